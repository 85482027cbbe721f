"""Measures kanalyze beside tshark and tcpdump on the two large captures, and prints the ratios.

tcpdump comes first and so brings the file into memory for all. tshark runs once, as it takes a minute; kanalyze and tcpdump
run twice before and twice after it, and the median counts, since the speed of a machine drifts by more than a tenth in a
minute. Memory is the peak of the largest process of a program, as the kernel reports it. A program that is not on the machine
is named and left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from make_captures import DATA, RECIPES, Recipe, make

FIELDS = ("frame.time_epoch", "tcp.stream", "kafka.api_key", "kafka.api_version", "kafka.correlation_id")
SHORT = ("tcpdump", "kanalyze")
ORDER = (*SHORT, *SHORT, "tshark", *SHORT, *SHORT)


class Measured(NamedTuple):
    """Seconds of wall time, and bytes of memory at the peak."""

    seconds: float
    peak_bytes: int


def find_program(name: str) -> str | None:
    """The program beside this Python (a virtual environment's), else on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def commands(path: Path, recipe: Recipe) -> dict[str, list[str]]:
    """What each program is asked to do, by its name, in the order of running."""
    ports = [word for port in recipe.ports for word in ("-d", f"tcp.port=={port},kafka")]
    fields = [word for field in FIELDS for word in ("-e", field)]
    return {
        "tcpdump": ["-r", str(path), "-w", os.devnull],
        "kanalyze": [str(path)],
        "tshark": ["-r", str(path), "-T", "fields", *fields, *ports],
    }


def measure(command: list[str]) -> Measured:
    """Runs a program once, output thrown away; one that fails ends the bench with its own words."""
    began = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    words = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"bench: {' '.join(command)} ended with {process.returncode}\n{words}")
    return Measured(seconds, usage.ru_maxrss * 1024)


def measure_all(path: Path, recipe: Recipe, without: list[str]) -> dict[str, Measured]:
    programs: dict[str, list[str]] = {}
    for name, arguments in commands(path, recipe).items():
        program = find_program(name)
        if program is None and name not in without:
            print(f"  {name:<10} is not on this machine: no figures for it")
        elif program is not None and name not in without:
            programs[name] = [program, *arguments]
    runs: dict[str, list[Measured]] = {name: [] for name in programs}
    for name in ORDER:
        if name in programs:
            runs[name].append(measure(programs[name]))
    return {
        name: Measured(median(run.seconds for run in found), max(run.peak_bytes for run in found))
        for name, found in runs.items()
    }


def count_packets(path: Path) -> int:
    """Walks the packet headers of a pcap file."""
    packets, at, size = 0, 24, path.stat().st_size
    with path.open("rb", buffering=1 << 20) as file:
        while at < size:
            file.seek(at + 8)
            at += 16 + int.from_bytes(file.read(4), "little")
            packets += 1
    return packets


def report(path: Path, found: dict[str, Measured]) -> None:
    size, packets = path.stat().st_size, count_packets(path)
    print(f"{path.name}: {size / 1e6:,.0f} MB, {packets / 1e6:.2f} M packets")
    ours = found.get("kanalyze")
    for name, (seconds, peak_bytes) in found.items():
        line = f"  {name:<10}{seconds:8.2f} s  {peak_bytes / 1e6:8,.0f} MB peak"
        line += f"  {size / 1e6 / seconds:8,.0f} MB/s  {packets / 1e6 / seconds:6.2f} M packets/s"
        if ours and name != "kanalyze":
            line += (
                f"   kanalyze takes {ours.seconds / seconds:.3g} x its time ({seconds / ours.seconds:.3g} x as fast)"
            )
        print(line)


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure kanalyze beside tshark and tcpdump.")
    asked.add_argument("--folder", type=Path, default=DATA, help="where the captures are, or are to be written")
    asked.add_argument("--without", action="append", default=[], metavar="PROGRAM", help="leave a program out")
    given = asked.parse_args()
    for recipe in RECIPES:
        path = make(recipe, given.folder)
        report(path, measure_all(path, recipe, given.without))


if __name__ == "__main__":
    main()
