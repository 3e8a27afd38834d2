/* A scripted NFS server for tests: options, commands, start. */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "loop.h"
#include "server.h"
#include "v4state.h"
#include "when.h"

struct options options = {
	.v3 = true,
	.v4 = true,
	.max_io = 1 << 20,
	.lease_ms = 90000,
};

static uint64_t verifier;

uint64_t verifier_now(void)
{
	return verifier;
}

void verifier_change(void)
{
	verifier++;
	call_note("verifier %016lx", verifier);
}

static const char *duration(char *rest, int64_t *ms)
{
	uint64_t v;

	if (!parse_ms(next_word(&rest), &v))
		return "wants a time: 500ms, 10s";
	*ms = v;
	return NULL;
}

/* What a crash and a new start would do, but for the time it takes. */
static const char *restart(char *rest)
{
	char *word = next_word(&rest);
	const char *bad = NULL;
	int64_t grace = 0;

	if (word && strcmp(word, "grace"))
		return "restart [grace TIME]";
	if (word)
		bad = duration(rest, &grace);
	if (bad)
		return bad;
	call_note("restart grace=%ldms", grace);
	verifier_change();
	state_restart(grace);
	conn_close_all();
	calls_forget();
	return NULL;
}

static void print_status(FILE *out)
{
	fprintf(out, "calls %lu held %d\n", calls_seen(), calls_held());
	state_print(out);
	rules_print(out);
}

static const char *command(char *line, FILE *out)
{
	char *rest = line, *word = next_word(&rest);

	if (!word)
		return NULL;
	if (!strcmp(word, "on"))
		return rules_add(rest);
	if (!strcmp(word, "delete"))
		return rules_delete(rest);
	if (!strcmp(word, "clear"))
		rules_clear();
	else if (!strcmp(word, "release"))
		calls_release();
	else if (!strcmp(word, "cut"))
		conn_close_all();
	else if (!strcmp(word, "verifier"))
		verifier_change();
	else if (!strcmp(word, "restart"))
		return restart(rest);
	else if (!strcmp(word, "expire"))
		state_expire_all();
	else if (!strcmp(word, "lease"))
		return duration(rest, &options.lease_ms);
	else if (!strcmp(word, "mark"))
		call_note("mark %s", rest ? rest : "");
	else if (!strcmp(word, "status"))
		print_status(out);
	else if (!strcmp(word, "quit"))
		loop_stop();
	else
		return "unknown command";
	return NULL;
}

static void usage(FILE *out)
{
	fputs("Usage: scripted [OPTION]... FOLDER\n"
	      "       scripted --send SOCKET COMMAND...\n"
	      "Serves FOLDER over MOUNT3, NFSv3 and NFSv4.0 on one TCP port, "
	      "and misbehaves\n"
	      "as told. Prints \"port N\" when it is ready.\n"
	      "\n"
	      "  --port N            (default: any free one)\n"
	      "  --listen ADDRESS    (default: 127.0.0.1)\n"
	      "  --script FILE       commands to begin with\n"
	      "  --control SOCKET    unix socket that takes commands\n"
	      "  --fifo PATH         FIFO that takes commands\n"
	      "  --stdin             takes commands from standard input\n"
	      "  --log FILE          one line a call (default: none; - is "
	      "stdout)\n"
	      "  --seed N            of rates and garbage\n"
	      "  --versions 3|4|34   programs served (default: 34)\n"
	      "  --max-io N          rtmax and wtmax (default: 1M)\n"
	      "  --fsync             stable writes reach the disk\n"
	      "  --lease TIME        NFSv4 lease (default: 90s)\n"
	      "  --grace TIME        grace period after the start "
	      "(default: none)\n"
	      "  --like ganesha|knfsd  NFSv4: state is checked before the "
	      "seqid and leases\n"
	      "                      end on time; or the seqid first, and at "
	      "a conflict\n"
	      "                      (default: ganesha)\n"
	      "  --send SOCKET COMMAND...  sends each, prints the answers; 1 "
	      "if one failed\n"
	      "\n"
	      "Commands:\n"
	      "  on [v3|v4|mount] PROCEDURE [with OPERATION] [file NAME] "
	      "[WHEN]... FAULT...\n"
	      "  clear; delete RULE; release (what is held); cut (all "
	      "connections);\n"
	      "  verifier (changes); restart [grace TIME]; expire (all "
	      "leases);\n"
	      "  lease TIME; mark TEXT (into the log); status; quit\n"
	      "PROCEDURE is one of NFSv3 (WRITE), MOUNT (MNT), an NFSv4 "
	      "operation (LOCK) or\n"
	      "COMPOUND, which \"with LOCK\" narrows; * is each call. A "
	      "fault of an operation\n"
	      "strikes when it is its turn: \"cut before\" and \"hold\" "
	      "leave the operations\n"
	      "before it done. \"file\" is the one whose handle the call "
	      "gives.\n"
	      "WHEN: nth N (from the Nth on; once, unless times), every N, "
	      "times N, rate P.\n"
	      "FAULT:\n",
		out);
	rules_help(out);
	fputs("Example:\n"
	      "  on WRITE nth 3 reply JUKEBOX times 5\n"
	      "  on WRITE every 10 drop\n"
	      "  on v4 COMPOUND with WRITE nth 2 cut after-execute\n"
	      "  on v4 LOCK nth 1 reply DENIED range 0 all\n"
	      "  on v3 WRITE before-execute append-other 100\n",
		out);
}

static uint64_t number(const char *text)
{
	uint64_t v;

	if (!parse_number(text, &v))
		errx(2, "%s: not a number", text);
	return v;
}

static int64_t milliseconds(const char *text)
{
	uint64_t v;

	if (!parse_ms(text, &v))
		errx(2, "%s: not a time", text);
	return v;
}

static void open_log(const char *path)
{
	options.log = strcmp(path, "-") ? fopen(path, "ae") : stdout;
	if (!options.log)
		err(1, "%s", path);
}

enum {
	PORT = 256,
	LISTEN,
	SCRIPT,
	CONTROL,
	FIFO,
	STDIN,
	LOG,
	SEED,
	VERSIONS,
	MAX_IO,
	FSYNC,
	LEASE,
	GRACE,
	LIKE,
	SEND,
	HELP
};

static const struct option longs[] = {{"port", 1, NULL, PORT},
	{"listen", 1, NULL, LISTEN}, {"script", 1, NULL, SCRIPT},
	{"control", 1, NULL, CONTROL}, {"fifo", 1, NULL, FIFO},
	{"stdin", 0, NULL, STDIN}, {"log", 1, NULL, LOG},
	{"seed", 1, NULL, SEED}, {"versions", 1, NULL, VERSIONS},
	{"max-io", 1, NULL, MAX_IO}, {"fsync", 0, NULL, FSYNC},
	{"lease", 1, NULL, LEASE}, {"grace", 1, NULL, GRACE},
	{"like", 1, NULL, LIKE}, {"send", 1, NULL, SEND},
	{"help", 0, NULL, HELP}, {0}};

static const char *address = "127.0.0.1";
static int port;

static void option(int o, int argc, char **argv)
{
	switch (o) {
	case PORT:
		port = number(optarg);
		break;
	case LISTEN:
		address = optarg;
		break;
	case SCRIPT:
		if (control_file(optarg, command))
			exit(2);
		break;
	case CONTROL:
		control_socket(optarg, command);
		break;
	case FIFO:
		control_fifo(optarg, command);
		break;
	case STDIN:
		control_stdin(command);
		break;
	case LOG:
		open_log(optarg);
		break;
	case SEED:
		when_seed(number(optarg));
		break;
	case VERSIONS:
		options.v3 = strchr(optarg, '3');
		options.v4 = strchr(optarg, '4');
		break;
	case MAX_IO:
		options.max_io = number(optarg);
		break;
	case FSYNC:
		options.fsync = true;
		break;
	case LEASE:
		options.lease_ms = milliseconds(optarg);
		break;
	case GRACE:
		options.grace_ms = milliseconds(optarg);
		break;
	case LIKE:
		options.seqid_first = !strcmp(optarg, "knfsd");
		if (!options.seqid_first && strcmp(optarg, "ganesha"))
			errx(2, "%s: ganesha or knfsd", optarg);
		break;
	case SEND:
		exit(control_send(optarg, argc - optind, argv + optind));
	case HELP:
		usage(stdout);
		exit(0);
	default:
		fputs("Try --help.\n", stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int o;

	verifier = (uint64_t)time(NULL) << 32 | (uint32_t)getpid();
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1)
		option(o, argc, argv);
	if (argc - optind != 1) {
		usage(stderr);
		return 2;
	}
	umask(0);
	store_open(argv[optind]);
	state_restart(options.grace_ms);
	printf("port %d\n", conn_listen(address, port));
	fflush(stdout);
	loop_run();
	conn_close_all();
	calls_forget();
	rules_clear();
	return 0;
}
