/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "doctor/doctor.h"

#define TEXT_MAX 2048
#define INDENT 8

/* Only people's lines are broken: scripts look for words in them. */
static size_t width(void)
{
	struct winsize size;

	if (!isatty(1))
		return TEXT_MAX;
	if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 2 * INDENT + 20)
		return size.ws_col;
	return 80;
}

static void put(const char *head, char *text)
{
	size_t room = width() - 1, at;

	/* Whatever it names may hold what moves a cursor. */
	for (char *s = text; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	at = (size_t)printf("%s", head);
	while (*text != '\0') {
		size_t n = strcspn(text + 1, " ") + 1;

		if (at > INDENT && at + n > room && *text == ' ') {
			at = (size_t)printf("\n%*s", INDENT - 1, "") - 1;
			continue;
		}
		at += (size_t)printf("%.*s", (int)n, text);
		text += n;
	}
	putchar('\n');
	fflush(stdout);
}

void doctor_title(const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	put("", text);
}

void doctor_found(enum doctor_level level, const char *fmt, ...)
{
	static const char *const heads[] = {
		"  ok    ", "  note  ", "  WARN  ", "  FAIL  "};
	char text[TEXT_MAX];
	va_list args;

	if (level == DOCTOR_WARN)
		doctor_shared->warnings++;
	if (level == DOCTOR_FAIL)
		doctor_shared->failures++;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	put(heads[level], text);
}

void doctor_cure(const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	put("        cure: ", text);
}

void doctor_step(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(doctor_shared->step, sizeof doctor_shared->step, fmt, args);
	va_end(args);
}

int doctor_verdict(void)
{
	int warnings = doctor_shared->warnings;
	int failures = doctor_shared->failures;

	if (failures > 0)
		printf("doctor: does not work: %d FAIL, %d WARN above\n",
			failures, warnings);
	else if (warnings > 0)
		printf("doctor: works, but: %d WARN above\n", warnings);
	else
		printf("doctor: all well\n");
	return failures > 0 ? 2 : warnings > 0 ? 1 : 0;
}
