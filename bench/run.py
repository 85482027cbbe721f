"""Measures kanalyze beside tshark and tcpdump on captures of seven kinds, and appends the figures to `results.md`.

tcpdump's loop (`-w /dev/null`) comes first and so brings the file into memory for all. In each round every program runs once, and
medians count, since the speed of a machine drifts by more than a tenth in a minute; tshark, which takes a minute, runs once,
between two rounds. Ratios are of medians. A program that is not on the machine is named and left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from captures import MAKERS, Capture, count_packets
from make_captures import DATA
from measure import Measured, measure, middle
from results import append

FIELDS = ("frame.time_epoch", "tcp.stream", "kafka.api_key", "kafka.api_version", "kafka.correlation_id")
LOOP, TSHARK = "tcpdump", "tshark"
COLUMNS = ("capture", "wall s", "x loop", "CPU s", "CPU s/GB", "largest MB", "all MB")


def find_program(name: str) -> str | None:
    """The program beside this Python (a virtual environment's), else on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def commands(capture: Capture, out: Path) -> dict[str, list[str]]:
    """What is measured, by its name: a program and its arguments. `out` is a directory that an export may make."""
    path = str(capture.path)
    ports = [word for port in capture.ports for word in ("-d", f"tcp.port=={port},kafka")]
    fields = [word for field in FIELDS for word in ("-e", field)]
    return {
        LOOP: ["tcpdump", "-r", path, "-w", os.devnull],
        "report": ["kanalyze", path],
        "findings": ["kanalyze", "findings", path],
        "export": ["kanalyze", "export", path, "--to", str(out)],
        TSHARK: ["tshark", "-r", path, "-T", "fields", *fields, *ports],
    }


def measure_all(capture: Capture, wanted: list[str], rounds: int) -> dict[str, Measured]:
    """Name -> the median of its runs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tables"
        found: dict[str, list[Measured]] = {}
        asked = commands(capture, out)
        for number in range(rounds):
            for name in wanted:
                if name != TSHARK or number == rounds // 2:
                    program, *arguments = asked[name]
                    found.setdefault(name, []).append(measure([find_program(program) or program, *arguments]))
                    shutil.rmtree(out, ignore_errors=True)
    return {name: middle(runs) for name, runs in found.items()}


def rows(capture: Capture, found: dict[str, Measured]) -> list[list[str]]:
    """A line for each program."""
    size = capture.path.stat().st_size
    packets = count_packets(capture.path)
    lines = [[f"**{capture.name}**, {size / 1e6:,.4g} MB, {packets:,} packets", *[""] * (len(COLUMNS) - 1)]]
    loop = found.get(LOOP)
    for name, run in found.items():
        times = [f"{run.seconds:.2f}", f"{run.seconds / loop.seconds:.1f}" if loop else "", f"{run.cpu_seconds:.2f}"]
        memory = [f"{run.peak_bytes / 1e6:,.0f}", f"{run.sum_bytes / 1e6:,.0f}"]
        lines.append([name, *times, f"{run.cpu_seconds / size * 1e9:.1f}", *memory])
    return lines


def available(without: list[str]) -> list[str]:
    """The names of what can be measured here."""
    found = []
    for name, (program, *_) in commands(Capture("", Path(), ()), Path()).items():
        if find_program(program) is None:
            print(f"{program} is not on this machine: no figures for {name}", file=sys.stderr)
        elif name not in without:
            found.append(name)
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure kanalyze beside tshark and tcpdump.")
    asked.add_argument("--folder", type=Path, default=DATA, help="where the captures are, or are to be written")
    asked.add_argument("--only", action="append", choices=MAKERS, help="a capture; may be repeated  [default: all]")
    asked.add_argument("--without", action="append", default=[], metavar="NAME", help="leave a program out")
    asked.add_argument("--rounds", type=int, default=5)
    given = asked.parse_args()
    wanted = available(given.without)
    lines: list[list[str]] = []
    for name in given.only or MAKERS:
        capture = MAKERS[name](given.folder)
        lines += rows(capture, measure_all(capture, wanted, given.rounds))
    append("on one machine", COLUMNS, lines)


if __name__ == "__main__":
    main()
