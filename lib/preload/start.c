/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/config_env.h"
#include "core/directory.h"
#include "core/file.h"
#include "core/log.h"
#include "core/mounted.h"
#include "core/mounts.h"
#include "core/placeholder.h"
#include "core/process.h"
#include "core/server.h"
#include "core/sockets.h"
#include "core/table.h"
#include "preload/hook.h"
#include "preload/real.h"
#include "preload/start.h"
#include "preload/stdio_slots.h"

enum { NEW, BUSY, STARTED = NFSAPPEND_STARTED };
int nfsappend_start_state;
static pid_t starter; /* the process in which it is BUSY */
static __thread bool starting __attribute__((tls_model("initial-exec")));
static char *const *initial_environment; /* of the constructor */

/*
 * -z initfirst: runs before the constructors of all other libraries, so that
 * stdio of theirs is seen. Nothing of libc may be called yet (a program with
 * a sanitizer would crash in its interceptor), not even memset.
 */
__attribute__((constructor)) static void construct(int argc, char **argv,
	char **envp)
{
	(void)argc;
	(void)argv;
	initial_environment = envp;
	nfsappend_reals_start();
	nfsappend_stdio_patch();
}

static const struct nfsappend_services services = {
	.socket_adopt = nfsappend_socket_adopt,
	.socket_hold = nfsappend_socket_hold,
	.socket_unhold = nfsappend_socket_unhold,
	.socket_drop = nfsappend_socket_drop,
	.log = nfsappend_log,
};

/* A sanitizer's dlopen() refuses RTLD_DEEPBIND; its malloc is used then, and
 * appends from handlers that interrupted malloc are not safe there. gcc's, when
 * linked into the program, shows nothing of itself but what it intercepts. */
static bool sanitized(void)
{
	Dl_info by;
	const char *slash;

	if (dladdr((void *)dlopen, &by) != 0) {
		slash = strrchr(by.dli_fname, '/');
		slash = slash != NULL ? slash + 1 : by.dli_fname;
		if (strncmp(slash, "libc.so", 7) != 0 &&
			strncmp(slash, "libdl.so", 8) != 0)
			return true;
	}
	return dlsym(RTLD_DEFAULT, "__asan_init") != NULL ||
		dlsym(RTLD_DEFAULT, "__tsan_init") != NULL ||
		dlsym(RTLD_DEFAULT, "__msan_init") != NULL;
}

/* Where this library is: known once it has been asked for. */
static char beside[4096];

const char *nfsappend_beside(const char *name)
{
	const char *slash;
	Dl_info info;

	if (dladdr((void *)nfsappend_beside, &info) == 0 ||
		(slash = strrchr(info.dli_fname, '/')) == NULL ||
		snprintf(beside, sizeof beside, "%.*s/%s",
			(int)(slash - info.dli_fname), info.dli_fname,
			name) >= (int)sizeof beside)
		snprintf(beside, sizeof beside, "%s/%s", PKGLIBDIR, name);
	return beside;
}

/* The nfs module lies there. */
static const struct nfsappend_backend *load_module(void)
{
	const struct nfsappend_backend *backend = NULL;
	void *module = NULL;
	int flags = RTLD_NOW | RTLD_LOCAL;

	if (!sanitized())
		flags |= RTLD_DEEPBIND;
	module = dlopen(nfsappend_beside("nfsappend-nfs.so"), flags);
	if (module != NULL)
		backend = dlsym(module, NFSAPPEND_BACKEND_SYMBOL);
	if (backend == NULL || backend->abi != NFSAPPEND_BACKEND_ABI) {
		const char *why = dlerror();

		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_MODULE,
			"the nfs module cannot be loaded: %s; reinstall "
			"nfsappend",
			why != NULL ? why : "it is of another version");
		return NULL;
	}
	backend->init(&services);
	return backend;
}

static bool inherited(void)
{
	bool any = false;

	for (int fd = 0; fd <= 2 && !any; fd++)
		any = nfsappend_placeholder_marked(fd) ||
			nfsappend_mounted_named(fd);
	return any;
}

/* A crash message on a file of a kernel mount comes without a word before. */
static void adopt_stderr(void)
{
	struct nfsappend_open *o;
	int error;

	if (nfsappend_backend == NULL || !nfsappend_placeholder_marked(2))
		return;
	o = nfsappend_table_get(2, &error);
	if (o != NULL)
		nfsappend_open_put(o);
}

static void start_once(void)
{
	extern char **environ;
	struct nfsappend_guard guard;

	nfsappend_log_start();
	if (nfsappend_process_start() != 0) {
		nfsappend_active = false;
		return;
	}
	nfsappend_guard_enter(&guard);
	nfsappend_sockets_start(); /* its sockets go first in a child */
	nfsappend_table_start();
	nfsappend_file_start();
	nfsappend_directory_start();
	nfsappend_server_start();
	nfsappend_mounts_start();
	nfsappend_backend_loader = load_module;
	nfsappend_config_read(initial_environment != NULL
			? initial_environment
			: environ);
	if (nfsappend_config.nmaps == 0 && nfsappend_config.npaths == 0 &&
		!inherited())
		nfsappend_active = false;
	nfsappend_reals_find();
	nfsappend_guard_leave(&guard);
}

bool nfsappend_start_now(void)
{
	int new = NEW;

	if (__atomic_load_n(&nfsappend_start_state, __ATOMIC_ACQUIRE) ==
		STARTED)
		return nfsappend_active;
	if (starting) /* a hook called by what we call there */
		return false;
	if (__atomic_load_n(&nfsappend_start_state, __ATOMIC_ACQUIRE) == NEW)
		__atomic_store_n(&starter, sys_getpid(), __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&nfsappend_start_state, &new, BUSY,
		    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		/* Another thread is at it: this one's open() may be the
		 * first of a mapped path. */
		while (__atomic_load_n(&nfsappend_start_state,
			       __ATOMIC_ACQUIRE) != STARTED) {
			nfsappend_sys(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
			/* Forked away from it: nobody is at it here. */
			if (__atomic_load_n(&starter, __ATOMIC_RELAXED) !=
				sys_getpid())
				__atomic_store_n(&nfsappend_start_state, NEW,
					__ATOMIC_RELEASE);
			if (__atomic_load_n(&nfsappend_start_state,
				    __ATOMIC_ACQUIRE) == NEW)
				return nfsappend_start();
		}
		return nfsappend_active;
	}
	int saved = errno;

	starting = true;
	start_once();
	starting = false;
	errno = saved;
	__atomic_store_n(&nfsappend_start_state, STARTED, __ATOMIC_RELEASE);
	return nfsappend_active;
}

static bool has_paths(void)
{
	static const char name[] = "NFSAPPEND_PATHS=";

	for (char *const *e = initial_environment; e != NULL && *e != NULL; e++)
		if (strncmp(*e, name, sizeof name - 1) == 0)
			return true;
	return false;
}

/*
 * The first append to an inherited standard output may come from a handler,
 * in the middle of malloc(). So the module is loaded before main(): here, where
 * no lock of libc's or of an allocator's is held by anybody.
 */
typedef int main_fn(int, char **, char **);
extern int __libc_start_main(main_fn *, int, char **, void (*)(void),
	void (*)(void), void (*)(void), void *);

NFSAPPEND_HOOK int __libc_start_main(main_fn *program, int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
	void *stack_end)
{
	/* Files on kernel mounts are known by the configuration only. */
	if ((inherited() || has_paths()) && nfsappend_start() &&
		inherited() && nfsappend_backend == NULL) {
		struct nfsappend_guard guard;

		nfsappend_guard_enter(&guard);
		nfsappend_backend = load_module();
		adopt_stderr();
		nfsappend_guard_leave(&guard);
	}
	return NFSAPPEND_REAL(__libc_start_main)(program, argc, argv, init,
		fini, rtld_fini, stack_end);
}
