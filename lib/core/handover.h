/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors of files on kernel mounts that go to somebody who cannot know of
 * us: the kernel serves those files from then on, and the descriptors are open
 * for writing.
 */
#ifndef NFSAPPEND_CORE_HANDOVER_H
#define NFSAPPEND_CORE_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/* One descriptor, if it is of such a file. who gets it ("the program x is
 * statically linked"), for the message. With the guard held. */
void nfsappend_hand_over(int fd, const char *who);

/* Is there one that an exec would hand on? all: also those that are closed by
 * it, since the actions of a posix_spawn() may copy them. */
bool nfsappend_hands_on(bool all);
/* Before an exec of a program that runs without us, in this process. */
void nfsappend_hand_on(const char *path, const char *why);
/* The same in the parent of a posix_spawn(): the files only; the descriptors
 * are opened for writing in the child, by nfsappend-exec. */
void nfsappend_hand_on_files(const char *path, const char *why);

/* Before this process gives up being root: files that it could then neither
 * open anew nor reach our way are the kernel's from now on, by descriptors
 * that are opened for writing while they can be. */
void nfsappend_hand_over_to_user(uint32_t uid);

#endif
