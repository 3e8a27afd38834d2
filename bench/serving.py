"""The private server of with-server, and a program that appends to it."""
import json
import os
import pathlib
import subprocess
import sys

import common

MOUNTED = "/nfsappend-bench"
DELAYED = {20490: 21490, 20491: 21491}  # NFS, MOUNT: the relay's ports


class Server:
    """The server of the private namespace, seen with a round trip added."""

    def __init__(self, programs, memory):
        self.programs = programs
        self.directory = pathlib.Path(
            os.environ["SERVER_SMALL" if memory else "SERVER_EXPORT"])
        self.relay, self.rtt_ms = None, 0.0

    def delay(self, rtt_ms):
        if self.relay is not None:
            self.relay.kill()
            self.relay.wait()
            self.relay = None
        self.rtt_ms = rtt_ms
        if rtt_ms > 0:
            ports = [str(p) for pair in DELAYED.items()
                     for p in reversed(pair)]
            self.relay = subprocess.Popen(
                [self.programs / "delay", str(int(rtt_ms * 500)), *ports],
                stdout=subprocess.PIPE, text=True)
            if self.relay.stdout.readline() != "ready\n":
                sys.exit("the relay does not start")

    def url(self, name="", version=3):
        ports = list(DELAYED if self.rtt_ms == 0 else DELAYED.values())
        path = f"/{name}" if name else ""
        if version == 4:
            return (f"nfs://127.0.0.1/{self.directory.name}{path}"
                    f"?version=4&nfsport={ports[0]}")
        return (f"nfs://127.0.0.1{self.directory}{path}"
                f"?nfsport={ports[0]}&mountport={ports[1]}")


SHARING = ("single", "guarded", "locked")


def command(programs, server, way, name, arguments, options=()):
    """The command line of one run; options are of the wrapper."""
    if way == "compound":
        return [programs / "append-compound", *arguments,
                server.url(name, version=4)]
    if way in ("socket", "libnfs"):
        return [programs / f"append-{way}", *arguments, server.url(name)]
    if way == "local":
        return [programs / "append-libc", *arguments,
                server.directory / name]
    sharing, prefix = way, common.prefix()
    if way == "no queue":
        sharing, prefix = "single", pathlib.Path(os.environ["WITHOUT_QUEUE"])
    url = server.url(version=4 if way == "locked" else 3)
    return [prefix / "bin" / "nfsappend", "--sharing", sharing,
            "-m", f"{MOUNTED}={url}", "--timeout", "20", *options, "--",
            programs / "append-libc", *arguments, f"{MOUNTED}/{name}"]


def totals(path):
    """Sums of the statistics that a run left behind; {} if it left none."""
    sums = {}
    if not path.exists():
        return sums
    for line in path.read_text().splitlines():
        for file in json.loads(line)["files"]:
            for key in ("appends", "rpcs", "write_rpcs", "conflicts"):
                sums[key] = sums.get(key, 0) + file[key]
            for key in ("batched_max", "max_us"):
                sums[key] = max(sums.get(key, 0), file[key])
    path.unlink()
    return sums


def beside_server():
    """Starts over inside the private server's namespaces."""
    if "SERVER_SMALL" not in os.environ:
        os.execv(common.HERE / "with-server",
                 ["with-server", sys.executable, *sys.argv])
