"""What the drivers share: where things are, what ran, and how results read."""
import csv
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def output(*command):
    """Standard output of a command, stripped; "" if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def prefix():
    """Where `make install` put nfsappend."""
    return pathlib.Path(os.environ.get("NFSAPPEND_PREFIX",
                                       ROOT / "build" / "root"))


def library():
    for pattern in ("lib*/nfsappend/libnfsappend.so",
                    "lib/*/nfsappend/libnfsappend.so"):
        for found in prefix().glob(pattern):
            return found
    sys.exit(f"no nfsappend under {prefix()}: run make install, or set "
             "NFSAPPEND_PREFIX to where it is")


def programs():
    """The compiled bench/programs."""
    directory = pathlib.Path(os.environ.get("BENCH_PROGRAMS",
                                            ROOT / "build" / "bench"))
    directory.mkdir(parents=True, exist_ok=True)
    subprocess.run([HERE / "programs" / "build", directory], check=True)
    return directory


def without_queue():
    """The library with the commit queue taken out: where it is installed."""
    directory = programs() / "without-queue"
    subprocess.run([HERE / "without-queue", directory], check=True)
    return directory


def command_line():
    """What made a result, for whoever makes it again."""
    words = ["bench/" + pathlib.Path(sys.argv[0]).name]
    words += [a for i, a in enumerate(sys.argv[1:], 1)
              if a != "--out" and sys.argv[i - 1] != "--out"]
    return " ".join(words)


def package(name):
    return output("dpkg-query", "-W", "-f", "${Version}", name)


def machine():
    cpu = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(
            timespec="seconds"),
        "commit": output("git", "-C", str(ROOT), "describe", "--always",
                         "--dirty", "--abbrev=12"),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "virtual": output("systemd-detect-virt"),
        "load": os.getloadavg()[0],
        "kernel": platform.release(),
        "libc": platform.libc_ver()[1],
        "libnfs": package("libnfs13") or output("pkg-config", "--modversion",
                                                "libnfs"),
        "server": "nfs-ganesha " + package("nfs-ganesha"),
        "compiler": output("cc", "--version").partition("\n")[0],
    }


def median(values):
    return statistics.median(values)


def spread(values):
    """Half the distance between the quartiles, in percent of the median."""
    if len(values) < 4:
        half = (max(values) - min(values)) / 2
    else:
        quartiles = statistics.quantiles(values, n=4)
        half = (quartiles[2] - quartiles[0]) / 2
    return 100 * half / median(values) if median(values) else 0.0


def paired(values, base):
    """Median of the ratios to the base of the same round: what both rounds
    suffered from cancels out."""
    return median([v / b for v, b in zip(values, base)])


class Progress:
    """One line on standard error that tells how far it is."""

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.next = 0.0
        self.tty = sys.stderr.isatty()

    def step(self, text):
        self.done += 1
        elapsed = time.monotonic() - self.start
        left = elapsed / self.done * (self.total - self.done)
        line = f"[{self.done}/{self.total}, {left:.0f} s left] {text}"
        if self.tty:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
            if self.done == self.total:
                print(file=sys.stderr)
        elif self.done == self.total or time.monotonic() >= self.next:
            self.next = time.monotonic() + 10
            print(line, file=sys.stderr, flush=True)

    def end(self):
        """What was left out is not waited for."""
        if self.tty and self.done < self.total:
            print(file=sys.stderr)


def table(rows, columns):
    """rows of dicts as text; columns: (key, title, format)."""
    cells = [[title for _, title, _ in columns]]
    for row in rows:
        cells.append(["" if row.get(key) is None else format(row[key], spec)
                      for key, _, spec in columns])
    widths = [max(len(line[i]) for line in cells)
              for i in range(len(columns))]
    text = ""
    for line in cells:
        padded = [cell.ljust(width) if i == 0 or not columns[i][2]
                  else cell.rjust(width)
                  for i, (cell, width) in enumerate(zip(line, widths))]
        text += "  ".join(padded).rstrip() + "\n"
    return text


def save(out, name, document, rows):
    """NAME.json has everything, NAME.csv one line a row of the table."""
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    document = {"command": command_line(), "full": "--full" in sys.argv,
                **document}
    # Whole or not at all: run goes by its presence.
    with open(out / f"{name}.json-", "w", encoding="utf-8") as f:
        json.dump(document, f, indent=1)
        f.write("\n")
    os.replace(out / f"{name}.json-", out / f"{name}.json")
    fields = list(dict.fromkeys(key for row in rows for key in row))
    with open(out / f"{name}.csv", "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, fields, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: round(value, 3) if isinstance(value, float)
                             else value for key, value in row.items()})
    print(f"written: {out / name}.json, {out / name}.csv")
