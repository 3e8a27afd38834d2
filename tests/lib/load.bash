# shellcheck shell=bash
# Every test file that needs the server and the shim begins with
#   load lib/load
# and overrides what it has a reason to.

bats_require_minimum_version 1.5.0

# shellcheck source=server.bash
source "${BASH_SOURCE[0]%/*}/server.bash"
# shellcheck source=shim.bash
source "${BASH_SOURCE[0]%/*}/shim.bash"
# shellcheck source=capture.bash
source "${BASH_SOURCE[0]%/*}/capture.bash"

setup_file() {
	start_server
	setup_shim
}

teardown_file() {
	stop_server
}

setup() {
	new_case
}

teardown() {
	nothing_local
}
