#!/usr/bin/env bats
# The build: what make install puts where, and what configure says about a
# machine that lacks something.

bats_require_minimum_version 1.5.0
load lib/shim

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'the build is the same; the plain run shows it'
	[[ -x $shim_root/configure ]] || {
		echo 'no configure: run autoreconf -i, or ./quickstart check' >&2
		return 1
	}
	mkdir "$BATS_TEST_TMPDIR/build" "$BATS_TEST_TMPDIR/pc"
	cd "$BATS_TEST_TMPDIR/build" || return 1
}

@test "out of tree, with DESTDIR: the files are where they belong" {
	"$shim_root/configure" --prefix=/opt/nfsappend
	make
	make install DESTDIR="$BATS_TEST_TMPDIR/dest"
	cd "$BATS_TEST_TMPDIR/dest/opt/nfsappend"
	[[ -x bin/nfsappend ]]
	grep -q "^pkglibdir='/opt/nfsappend/lib/nfsappend'" bin/nfsappend
	[[ $(stat -c %a lib/nfsappend/libnfsappend.so) = 755 ]]
	[[ $(stat -c %a lib/nfsappend/nfsappend-nfs.so) = 755 ]]
	[[ -x lib/nfsappend/nfsappend-exec ]]
	[[ -s share/man/man1/nfsappend.1 ]]
	grep -q '^\.It Fn open$' share/man/man7/nfsappend.7
	[[ -z $(find . -name '*.la' -o -name '*.a') ]]
}

@test "make distcheck: the tarball has all that it needs" {
	"$shim_root/configure"
	make distcheck
	tar tf nfsappend-*.tar.gz >list
	local file
	for file in README.md LICENSE NEWS quickstart bin/nfsappend.in \
		man/nfsappend.1 man/nfsappend.7.in tests/30-append.bats tests/lib/server.bash \
		tests/programs/prog_append.c lib/preload/hooks.def; do
		grep -q "/$file\$" list || {
			echo "$file is not in the tarball" >&2
			return 1
		}
	done
}

# libnfs VERSION as pkg-config would find it.
pretend_libnfs() {
	printf '%s\n' 'Name: libnfs' 'Description: pretended' "Version: $1" \
		'Libs: -lnfs' >"$BATS_TEST_TMPDIR/pc/libnfs.pc"
}

@test "configure refuses a libnfs whose API it does not know, in one line" {
	local version
	for version in 6.0.2 7.0.0 16.1; do
		pretend_libnfs "$version"
		run ! env PKG_CONFIG_PATH="$BATS_TEST_TMPDIR/pc" "$shim_root/configure"
		[[ $output = *"configure: error: libnfs $version is not supported"* ]]
	done
	pretend_libnfs 5.0.3
	run -0 env PKG_CONFIG_PATH="$BATS_TEST_TMPDIR/pc" "$shim_root/configure"
	[[ $output = *'libnfs 5.0.3'* ]]
}

@test "configure names the package that is missing" {
	run ! env PKG_CONFIG_LIBDIR="$BATS_TEST_TMPDIR/pc" "$shim_root/configure"
	[[ $output = *'apt-get install libnfs-dev'* ]]
	run ! env ac_cv_header_uthash_h=no "$shim_root/configure"
	[[ $output = *'apt-get install uthash-dev'* ]]
}
