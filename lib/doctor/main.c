/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nfsappend doctor [-t SECONDS] [DIR|URL|PID|COMMAND]... */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/log.h"
#include "core/path.h"
#include "core/program.h"
#include "doctor/doctor.h"

extern char **environ;

#define OWN_ERROR 125

static const char usage[] =
	"usage: nfsappend [-p DIR]... [-m DIR=URL]... doctor [-t SECONDS]\n"
	"                 [DIR|FILE|nfs://URL|PID|COMMAND]...\n";

/* What the configuration says of itself goes here, and is found then. */
static FILE *complaints;
static char complaints_name[40];

/* The environment with (or without) one variable only. */
static char **select_environment(const char *name, bool only)
{
	size_t n = 0, len = strlen(name);
	char **out;

	for (char **e = environ; *e != NULL; e++)
		n++;
	out = calloc(n + 1, sizeof *out);
	if (out == NULL)
		exit(OWN_ERROR);
	n = 0;
	for (char **e = environ; *e != NULL; e++)
		if ((strncmp(*e, name, len) == 0 && (*e)[len] == '=') == only)
			out[n++] = *e;
	return out;
}

static void read_configuration(void)
{
	int fd = memfd_create("doctor", MFD_CLOEXEC);

	if (fd >= 0 && (complaints = fdopen(fd, "r")) != NULL)
		snprintf(complaints_name, sizeof complaints_name,
			"/proc/%d/fd/%d", (int)getpid(), fd);
	nfsappend_log_configure(
		NFSAPPEND_WARN, complaints != NULL ? complaints_name : NULL);
	/* NFSAPPEND_LOG for its own mistakes; it would lead the others away. */
	nfsappend_config_read(select_environment("NFSAPPEND_LOG", true));
	nfsappend_log_configure(
		NFSAPPEND_WARN, complaints != NULL ? complaints_name : NULL);
	nfsappend_config_read(select_environment("NFSAPPEND_LOG", false));
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++)
		if (nfsappend_config.maps[i].dropped)
			nfsappend_config_tell_dropped(
				&nfsappend_config.maps[i]);
}

/* "nfsappend: nfsappend-doctor[1]: " is of no interest here. */
static void tell_complaints(void)
{
	char line[2048];

	if (complaints == NULL)
		return;
	rewind(complaints);
	while (fgets(line, sizeof line, complaints) != NULL) {
		char *text = strstr(line, "]: ");

		line[strcspn(line, "\n")] = '\0';
		doctor_found(DOCTOR_FAIL, "%s", text != NULL ? text + 3 : line);
		doctor_cure("correct the variable; nfsappend(1) tells what it "
			    "may hold");
	}
}

static bool is_number(const char *s)
{
	return s[0] != '\0' && s[strspn(s, "0123456789")] == '\0' &&
	       strlen(s) < 10;
}

/* What means something in a URL, by its number (RFC 3986 section 2.1). */
static void encode(const char *path, char *out)
{
	for (; *path != '\0'; path++) {
		if (strchr("%?#", *path) != NULL || *path <= ' ')
			out += sprintf(out, "%%%02x", (unsigned char)*path);
		else
			*out++ = *path;
	}
	*out = '\0';
}

/* Below a DIR of NFSAPPEND_MAP: the URL is what counts. */
static bool by_map(const char *arg)
{
	char absolute[PATH_MAX], path[PATH_MAX], rest[3 * PATH_MAX];
	char url[5 * PATH_MAX];
	const struct nfsappend_map *map;
	const char *query;
	int base;

	if (arg[0] == '/')
		snprintf(absolute, sizeof absolute, "%s", arg);
	else if (getcwd(path, sizeof path) == NULL ||
		 snprintf(absolute, sizeof absolute, "%s/%s", path, arg) >=
			 (int)sizeof absolute)
		return false;
	if (nfsappend_path_normalise(absolute, path, sizeof path) < 0)
		return false;
	map = nfsappend_path_match(path);
	if (map == NULL || map->dropped)
		return false;
	query = strstr(map->entry, "=nfs:") + 1;
	base = (int)strcspn(query, "?");
	encode(path + map->len, rest);
	snprintf(url, sizeof url, "%.*s%s%s", base, query, rest, query + base);
	doctor_found(
		DOCTOR_NOTE, "NFSAPPEND_MAP (-m): %s stands for %s", path, url);
	doctor_url(url);
	return true;
}

/* In a child: to look at a path may take for ever. */
static void examine(void *arg)
{
	const char *what = arg;
	char program[PATH_MAX];
	struct stat st;

	doctor_step("looking up %s", what);
	if (strncmp(what, "nfs://", 6) == 0) {
		doctor_url(what);
	} else if (is_number(what)) {
		doctor_process((pid_t)atoi(what));
	} else if (by_map(what)) {
		;
	} else if (strchr(what, '/') == NULL && stat(what, &st) != 0 &&
		   nfsappend_program_find(
			   what, environ, program, sizeof program)) {
		doctor_command(program);
	} else {
		doctor_path(what);
	}
}

static void examine_titled(const char *what)
{
	putchar('\n');
	doctor_title("%s", what);
	/* Behind our own time-outs: what the kernel does not return from. */
	doctor_limited(examine, (void *)what, doctor_seconds + 8);
	doctor_end_if_interrupted();
}

/* Nothing named: what the configuration names. */
static void examine_configured(void)
{
	if (nfsappend_config.nmaps == 0 && nfsappend_config.npaths == 0) {
		putchar('\n');
		doctor_title("places");
		doctor_found(DOCTOR_NOTE,
			"no place was named: give a directory on an NFS mount, "
			"an nfs:// URL, a PID or a command, or -p and -m "
			"before 'doctor'");
		return;
	}
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++)
		if (!nfsappend_config.maps[i].dropped)
			examine_titled(nfsappend_config.maps[i].dir);
	for (unsigned i = 0; i < nfsappend_config.npaths; i++)
		examine_titled(nfsappend_config.paths[i].dir);
}

int main(int argc, char **argv)
{
	int c;

	if (argc == 2 && strcmp(argv[1], "--probe") == 0)
		return doctor_probe();
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	opterr = 0; /* it would name a program that nobody has called */
	while ((c = getopt(argc, argv, "+t:")) != -1) {
		if (c != 't' || !is_number(optarg) || atoi(optarg) < 1 ||
			atoi(optarg) > 3600) {
			fprintf(stderr, "nfsappend doctor: %s\n%s",
				optopt == 't' || c == 't'
					? "-t takes 1 to 3600 seconds"
					: "no such option",
				usage);
			return OWN_ERROR;
		}
		doctor_seconds = (unsigned)atoi(optarg);
	}
	if (!doctor_limited_start()) {
		perror("nfsappend doctor");
		return OWN_ERROR;
	}
	nfsappend_log_start();
	doctor_title("library %s", PKGLIBDIR "/libnfsappend.so");
	doctor_limited(doctor_library, NULL, doctor_seconds + 3);
	doctor_end_if_interrupted();
	putchar('\n');
	doctor_title("this host and user");
	read_configuration();
	tell_complaints();
	doctor_limited(doctor_host, NULL, doctor_seconds + 3);
	doctor_end_if_interrupted();
	for (int i = optind; i < argc; i++)
		examine_titled(argv[i]);
	if (optind == argc)
		examine_configured();
	putchar('\n');
	return doctor_verdict();
}
