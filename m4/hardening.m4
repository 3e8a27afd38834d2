dnl Flags that make an error harder to exploit, each only where compiler and
dnl linker know it. tests/06-hardening.bats looks at what comes out of it.
dnl
dnl They go into NFSAPPEND_HARDEN_CPPFLAGS, NFSAPPEND_HARDEN_CFLAGS and
dnl NFSAPPEND_HARDEN_LDFLAGS; NFSAPPEND_PIE_CFLAGS and NFSAPPEND_PIE_LDFLAGS
dnl are for executables.

dnl NFSAPPEND_TRY(FLAG, COMPILE-FLAGS, LINK-FLAGS, [IF-KNOWN])
dnl Links a program with them; a warning counts as not known.
AC_DEFUN([NFSAPPEND_TRY], [
	AC_MSG_CHECKING([whether $CC knows $1])
	nfsappend_save_CFLAGS=$CFLAGS
	nfsappend_save_LDFLAGS=$LDFLAGS
	CFLAGS="$CFLAGS $2 -Werror"
	LDFLAGS="$LDFLAGS $3"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <string.h>], [
		char text@<:@80@:>@;
		memset(text, 0, sizeof text);
		return text@<:@sizeof text - 1@:>@;])],
		[nfsappend_known=yes], [nfsappend_known=no])
	CFLAGS=$nfsappend_save_CFLAGS
	LDFLAGS=$nfsappend_save_LDFLAGS
	AC_MSG_RESULT([$nfsappend_known])
	AS_IF([test "$nfsappend_known" = yes], [$4])
])

AC_DEFUN([NFSAPPEND_TRY_CFLAG], [NFSAPPEND_TRY([$1], [$1], [],
	[NFSAPPEND_HARDEN_CFLAGS="$NFSAPPEND_HARDEN_CFLAGS $1"])])
AC_DEFUN([NFSAPPEND_TRY_LDFLAG], [NFSAPPEND_TRY([$1], [], [$1],
	[NFSAPPEND_HARDEN_LDFLAGS="$NFSAPPEND_HARDEN_LDFLAGS $1"])])

dnl Left alone where the user, or the compiler by itself, has set a level.
AC_DEFUN([NFSAPPEND_TRY_FORTIFY], [
	AC_MSG_CHECKING([for the level of _FORTIFY_SOURCE])
	nfsappend_fortify=
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([
@%:@ifdef _FORTIFY_SOURCE
@%:@error it is set
@%:@endif])], [], [nfsappend_fortify='that of the flags'])
	AS_IF([test -z "$nfsappend_fortify"], [
		nfsappend_fortify='none: no optimisation'
		nfsappend_save_CPPFLAGS=$CPPFLAGS
		nfsappend_save_CFLAGS=$CFLAGS
		CFLAGS="$CFLAGS -Werror"
		for nfsappend_level in 2 3; do
			CPPFLAGS="$nfsappend_save_CPPFLAGS -D_FORTIFY_SOURCE=$nfsappend_level"
			AC_COMPILE_IFELSE([AC_LANG_SOURCE([
@%:@include <stdio.h>
@%:@if __USE_FORTIFY_LEVEL != $nfsappend_level
@%:@error not this one
@%:@endif])], [
				nfsappend_fortify=$nfsappend_level
				NFSAPPEND_HARDEN_CPPFLAGS="-D_FORTIFY_SOURCE=$nfsappend_level"])
		done
		CPPFLAGS=$nfsappend_save_CPPFLAGS
		CFLAGS=$nfsappend_save_CFLAGS
	])
	AC_MSG_RESULT([$nfsappend_fortify])
])

AC_DEFUN([NFSAPPEND_HARDENING], [
	NFSAPPEND_HARDEN_CPPFLAGS= NFSAPPEND_HARDEN_CFLAGS= NFSAPPEND_HARDEN_LDFLAGS=
	NFSAPPEND_PIE_CFLAGS= NFSAPPEND_PIE_LDFLAGS=
	NFSAPPEND_TRY_FORTIFY
	NFSAPPEND_TRY_CFLAG([-fstack-protector-strong])
	NFSAPPEND_TRY_CFLAG([-fstack-clash-protection])
	AS_CASE([$host_cpu],
		[x86_64], [NFSAPPEND_TRY_CFLAG([-fcf-protection=full])],
		[aarch64], [NFSAPPEND_TRY_CFLAG([-mbranch-protection=standard])])
	NFSAPPEND_TRY_LDFLAG([-Wl,-z,relro])
	NFSAPPEND_TRY_LDFLAG([-Wl,-z,now])
	NFSAPPEND_TRY_LDFLAG([-Wl,-z,noexecstack])
	NFSAPPEND_TRY_LDFLAG([-Wl,-z,text])
	NFSAPPEND_TRY_LDFLAG([-Wl,-z,defs])
	NFSAPPEND_TRY([-fPIE -pie], [-fPIE], [-pie],
		[NFSAPPEND_PIE_CFLAGS=-fPIE NFSAPPEND_PIE_LDFLAGS=-pie])
])
