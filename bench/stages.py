"""Where the CPU time of one command goes, by compiled stage and library: `make profile CAPTURE=FILE [VERB=export]`.

`perf` looks 997 times a second at what each process and thread is doing, and tells the file that the code is in: a stage of ours
is a file of its own, so is each library. Without perf the times of the processes alone are told.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from measure import measure
from run import find_program

SAMPLES_PER_S = 997
LEAST_SHARE = 0.003
# Files with other names than what people call them.
CALLED = {
    "_duckdb": "DuckDB (SQL, Parquet of questions)",
    "libparquet": "Arrow: Parquet",
    "libarrow": "Arrow",
    "[kernel": "kernel",
    "libc": "libc (memory)",
    "ld-linux-x86-64": "loader",
}


def stage(file: str) -> str:
    """The name of what a mapped file holds."""
    name = Path(file.strip().strip("()")).name
    short = name.partition(".")[0]
    if name.startswith(("python", "libpython")):
        return "Python"
    return CALLED.get(short, short) or "unknown"


def sampled(command: list[str]) -> Counter[str]:
    """Stage -> samples, in all processes that a command begins."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_S), "-o", str(data), "--", *command]
        done = subprocess.run(record, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"profile: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
        script = ["perf", "script", "-i", str(data), "-F", "ip,dso"]
        lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    return Counter(stage(line.split(maxsplit=1)[1]) for line in lines if len(line.split(maxsplit=1)) == 2)


def main() -> None:
    asked = argparse.ArgumentParser(description="Tell where the CPU time of a command goes.")
    asked.add_argument("capture", type=Path)
    asked.add_argument("--verb", choices=("report", "findings", "export"), default="report")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tables"
        words = ["--to", str(out)] if given.verb == "export" else []
        command = [find_program("kanalyze") or "kanalyze", given.verb, str(given.capture), *words]
        run = measure(command)
        print(f"{given.verb} of {given.capture.name}: {run.seconds:.2f} s, {run.cpu_seconds:.2f} CPU s")
        if shutil.which("perf") is None:
            print("no perf on this machine, so nothing is known of stages (Debian: apt install linux-perf)")
            return
        shutil.rmtree(out, ignore_errors=True)
        found = sampled(command)
    total = found.total()
    for name, count in found.most_common():
        if count >= LEAST_SHARE * total:
            print(f"  {name:<36}{count / SAMPLES_PER_S:8.2f} CPU s {100 * count / total:6.1f} %")


if __name__ == "__main__":
    sys.exit(main())
