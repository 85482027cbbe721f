"""Measures kanalyze beside tshark and tcpdump on captures of seven kinds, and appends the figures to `results.md`.

tcpdump's loop (`-w /dev/null`) comes first and so brings the file into memory for all. In each round every program runs once, and
medians count, since the speed of a machine drifts by more than a tenth in a minute; tshark, which takes a minute of a large
capture, runs once there, between two rounds. Ratios are of medians. A program that is not on the machine is named and left out.

With `--before DIR` another built checkout runs the same commands in the same rounds. Of each round the CPU of ours is divided by
that of the other one: the median of these ratios counts, with the least and the greatest. Where tcpdump's loop itself, or of a
small capture tshark, varies by more than 15 % the machine is not quiet, and nothing is told.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from captures import MAKERS, Capture, count_packets
from make_captures import DATA
from measure import Measured, measure, middle
from results import append

FIELDS = ("frame.time_epoch", "tcp.stream", "kafka.api_key", "kafka.api_version", "kafka.correlation_id")
LOOP, TSHARK = "tcpdump", "tshark"
BEFORE = "before: "
MOST_VARIATION = 0.15
SHORTEST_LOOP_S = 0.05
SMALL_BYTES = 1_000_000
RATIOS = (
    "capture",
    "CPU, times before",
    "least",
    "greatest",
    "largest MB, times before",
    "tshark's time / ours",
    "tshark's / before",
)
COLUMNS = ("capture", "wall s", "x loop", "CPU s", "CPU s/GB", "largest MB", "all MB")


def find_program(name: str) -> str | None:
    """The program beside this Python (a virtual environment's), else on the path."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def commands(capture: Capture, out: Path, before: Path | None = None) -> dict[str, list[str]]:
    """What is measured, by its name: a program and its arguments. `out` is a directory that an export may make. `before`: another
    checkout, whose commands have names that begin with BEFORE."""
    path = str(capture.path)
    ports = [word for port in capture.ports for word in ("-d", f"tcp.port=={port},kafka")]
    fields = [word for field in FIELDS for word in ("-e", field)]
    ours = {"report": [path], "findings": ["findings", path], "export": ["export", path, "--to", str(out)]}
    other = str(before / ".venv" / "bin" / "kanalyze") if before else ""
    return {
        LOOP: ["tcpdump", "-r", path, "-w", os.devnull],
        **{name: ["kanalyze", *words] for name, words in ours.items()},
        **({f"{BEFORE}{name}": [other, *words] for name, words in ours.items()} if before else {}),
        TSHARK: ["tshark", "-r", path, "-T", "fields", *fields, *ports],
    }


def measure_all(
    capture: Capture, wanted: list[str], rounds: int, before: Path | None = None
) -> dict[str, list[Measured]]:
    """Name -> its runs, one a round."""
    is_small = capture.path.stat().st_size < SMALL_BYTES
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tables"
        found: dict[str, list[Measured]] = {}
        asked = commands(capture, out, before)
        for number in range(rounds):
            for name in wanted:
                if name != TSHARK or is_small or number == rounds // 2:
                    program, *arguments = asked[name]
                    found.setdefault(name, []).append(measure([find_program(program) or program, *arguments]))
                    shutil.rmtree(out, ignore_errors=True)
    return found


def variation(runs: list[Measured]) -> float:
    """How much longer the longest run took than the shortest, 0.1 for a tenth; 0 where all are too short to tell."""
    times = [run.seconds for run in runs]
    return max(times) / min(times) - 1 if median(times) >= SHORTEST_LOOP_S else 0


def ratios(capture: Capture, found: dict[str, list[Measured]]) -> list[list[str]]:
    """A line for each command of ours that ran in both checkouts."""
    lines = []
    for name, runs in found.items():
        pairs = list(zip(runs, found.get(f"{BEFORE}{name}", []), strict=False))
        if pairs:
            cpu = sorted(ours.cpu_seconds / other.cpu_seconds for ours, other in pairs)
            memory = max(ours.peak_bytes for ours, _ in pairs) / max(other.peak_bytes for _, other in pairs)
            told = (median(cpu), cpu[0], cpu[-1], memory)
            lines.append([f"{capture.name}, {name}", *(f"{value:.2f}" for value in told)])
            lines[-1] += [_times(found.get(TSHARK, []), beside) for beside in zip(*pairs, strict=True)]
    return lines


def _times(longer: Sequence[Measured], runs: Sequence[Measured]) -> str:
    """How many times as long a program took as another one; "" where it is not on this machine."""
    return f"{middle(longer).seconds / middle(runs).seconds:.1f}" if longer else ""


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


def available(without: list[str], before: Path | None) -> list[str]:
    """The names of what can be measured here."""
    found = []
    for name, (program, *_) in commands(Capture("", Path(), ()), Path(), before).items():
        if find_program(program) is None:
            print(f"{program} is not on this machine: no figures for {name}", file=sys.stderr)
        elif name.removeprefix(BEFORE) not in without:
            found.append(name)
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure kanalyze beside tshark and tcpdump.")
    asked.add_argument("--folder", type=Path, default=DATA, help="where the captures are, or are to be written")
    asked.add_argument("--only", action="append", choices=MAKERS, help="a capture; may be repeated  [default: all]")
    asked.add_argument("--without", action="append", default=[], metavar="NAME", help="leave a program out")
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--before", type=Path, metavar="DIR", help="a built checkout to compare with, in turns")
    given = asked.parse_args()
    wanted = available(given.without, given.before)
    lines: list[list[str]] = []
    compared: list[list[str]] = []
    for name in given.only or MAKERS:
        capture = MAKERS[name](given.folder)
        found = measure_all(capture, wanted, given.rounds, given.before)
        for steady in (LOOP, TSHARK):
            if given.before and steady in found and (varies := variation(found[steady])) > MOST_VARIATION:
                sys.exit(f"bench: {steady} over {name} varies by {varies:.0%}: the machine is not quiet, no ratios")
        compared += ratios(capture, found)
        lines += rows(capture, {name: middle(runs) for name, runs in found.items()})
    append("on one machine", COLUMNS, lines)
    if compared:
        append(f"CPU beside {given.before.name}, in turns", RATIOS, compared)


if __name__ == "__main__":
    main()
