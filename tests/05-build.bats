#!/usr/bin/env bats
# The build: what make install puts where, and what configure says about a
# machine that lacks something.

bats_require_minimum_version 1.5.0
load lib/shim

# One build for all: unoptimised, as it is only looked at. Its answers of
# configure serve the other runs, but for what these pretend.
setup_file() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] || return 0
	[[ -x $shim_root/configure ]] || {
		echo 'no configure: run autoreconf -i, or ./quickstart check' >&2
		return 1
	}
	export BUILD=$BATS_FILE_TMPDIR/build ANSWERS=$BATS_FILE_TMPDIR/answers
	mkdir "$BUILD"
	cd "$BUILD" || return 1
	"$shim_root/configure" --config-cache --prefix=/opt/nfsappend CFLAGS=-O0
	make -j2
	grep -vE '^(ac_cv_env|pkg_cv)_' config.cache >"$ANSWERS"
}

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'the build is the same; the plain run shows it'
	mkdir "$BATS_TEST_TMPDIR/other" "$BATS_TEST_TMPDIR/pc"
	cp "$ANSWERS" "$BATS_TEST_TMPDIR/answers"
	cd "$BATS_TEST_TMPDIR/other" || return 1
}

configure() {
	"$shim_root/configure" --cache-file="$BATS_TEST_TMPDIR/answers" "$@"
}

@test "out of tree, with DESTDIR: the files are where they belong" {
	make -C "$BUILD" install DESTDIR="$BATS_TEST_TMPDIR/dest"
	cd "$BATS_TEST_TMPDIR/dest/opt/nfsappend"
	[[ -x bin/nfsappend ]]
	grep -q "^pkglibdir='/opt/nfsappend/lib/nfsappend'" bin/nfsappend
	[[ $(stat -c %a lib/nfsappend/libnfsappend.so) = 755 ]]
	[[ $(stat -c %a lib/nfsappend/nfsappend-nfs.so) = 755 ]]
	[[ -x lib/nfsappend/nfsappend-exec ]]
	[[ -s share/man/man1/nfsappend.1 ]]
	grep -q '^\.It Fn open$' share/man/man7/nfsappend.7
	[[ -s share/bash-completion/completions/nfsappend ]]
	[[ -x share/doc/nfsappend/examples/demo/demo ]]
	[[ -z $(find . -name '*.la' -o -name '*.a') ]]
}

@test "make uninstall leaves nothing, not even a folder of its own" {
	local dest=$BATS_TEST_TMPDIR/dest
	make -C "$BUILD" install DESTDIR="$dest"
	touch "$dest/opt/nfsappend/bin/another"
	make -C "$BUILD" uninstall DESTDIR="$dest"
	find "$dest"
	[[ $(find "$dest" ! -type d) = "$dest/opt/nfsappend/bin/another" ]]
	[[ -z $(find "$dest/opt/nfsappend/" -mindepth 1 -name '*nfsappend*') ]]
}

@test "make distcheck: the tarball has all that it needs" {
	# Without unit tests; that these pass is shown elsewhere.
	local file without=(TESTS= check_PROGRAMS= check_LTLIBRARIES=)
	[[ ${NFSAPPEND_FULL-} != 1 ]] || without=()
	cd "$BUILD"
	make -j2 distcheck "${without[@]}" \
		DISTCHECK_CONFIGURE_FLAGS="CFLAGS=-O0 --cache-file=$BATS_TEST_TMPDIR/answers"
	tar tf nfsappend-*.tar.gz >list
	for file in README.md LICENSE NEWS quickstart bin/nfsappend.in \
		man/nfsappend.1 man/nfsappend.7.in tests/30-append.bats tests/lib/server.bash \
		tests/programs/prog_append.c lib/preload/hooks.def; do
		grep -q "/$file\$" list || {
			echo "$file is not in the tarball" >&2
			return 1
		}
	done
}

@test "the tarball has every file that git has" {
	git -C "$shim_root" rev-parse 2>/dev/null ||
		skip 'this is no git checkout'
	make -C "$BUILD" dist
	tar tf "$BUILD"/nfsappend-*.tar.gz | grep -v '/$' |
		sed 's|^[^/]*/||' | sort >in-tarball
	# What serves only the checkout itself.
	git -C "$shim_root" ls-files | grep -vE '^(\.ci/|\.gitignore$)' |
		sort >in-git
	run -0 comm -13 in-tarball in-git
	echo "$output"
	[[ -z $output ]]
}

@test "the Debian package has the version of configure" {
	[[ $(sed -nE '1s/^nfsappend \((.*)\).*/\1/p' "$shim_root/debian/changelog") = \
		"$("$shim_root/configure" --version | sed -n '1s/.* //p')" ]]
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
		run ! configure PKG_CONFIG_PATH="$BATS_TEST_TMPDIR/pc"
		[[ $output = *"configure: error: libnfs $version is not supported"* ]]
	done
	pretend_libnfs 5.0.3
	run -0 configure PKG_CONFIG_PATH="$BATS_TEST_TMPDIR/pc"
	[[ $output = *'libnfs 5.0.3'* ]]
}

@test "configure names the package that is missing" {
	run ! configure PKG_CONFIG_LIBDIR="$BATS_TEST_TMPDIR/pc"
	[[ $output = *'apt-get install libnfs-dev'* ]]
	run ! configure ac_cv_header_uthash_h=no
	[[ $output = *'apt-get install uthash-dev'* ]]
}
