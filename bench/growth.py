"""Does a report cost twice as much when there is twice as much of something? `make bench-growth` asks it along each axis.

An axis makes captures of growing size and says how many units each holds. For each the CPU time of one report is told, what a
unit costs beyond the smallest capture of its axis, and the peak memory of the largest process. `growth` is the exponent between
the last two sizes: 1 is linear, 2 a square. The same work in other shapes (the same frames in fewer packets, the same packets in
more files) has an exponent of 0 at best. Results go to `growth.md` and, as curves, to `growth.svg`.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from growth_captures import AXES, Axis
from growth_plot import Curve, plot
from measure import Measured, measure
from results import commit, machine
from run import find_program

FOLDER = Path(__file__).parent
COLUMNS = ("size", "capture MB", "CPU s", "µs a unit", "largest MB")


class Point(NamedTuple):
    """A size of an axis, what its capture takes on disk, and what a report of it took."""

    size: int
    units: int
    bytes: int
    run: Measured


def points(axis: Axis, most: int, folder: Path) -> list[Point]:
    """One report for each size up to `most` units; captures are removed when they were read."""
    found = []
    for size in axis.sizes:
        if axis.units(size) > most:
            print(f"{axis.name} {size:,}: left out, more than --most {most:,} units", file=sys.stderr)
            continue
        path = folder / "captures"
        path.mkdir()
        words = axis.make(size, path)
        taken = sum(file.stat().st_size for file in path.iterdir())
        program = find_program("kanalyze") or "kanalyze"
        found.append(Point(size, axis.units(size), taken, measure([program, "report", str(path), *words])))
        shutil.rmtree(path)
        print(f"{axis.name} {size:,}: {found[-1].run.cpu_seconds:.2f} CPU s", file=sys.stderr)
    return found


def exponent(found: Sequence[Point], axis: Axis) -> float | None:
    """How CPU time grows from the last size but one to the last; what every run takes is taken off first."""
    if len(found) < 3:
        return None
    before, last = found[-2:]
    fixed = 0.0 if axis.same_work else min(point.run.cpu_seconds for point in found)
    least = 0.01  # the kernel counts in hundredths
    times = [max(point.run.cpu_seconds - fixed, least) for point in (before, last)]
    return math.log(times[1] / times[0]) / math.log(last.size / before.size)


def table(found: Sequence[Point], axis: Axis) -> str:
    """The rows of an axis."""
    first = found[0]
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'--:|' * len(COLUMNS)}"]
    for point in found:
        more = point.units - (0 if axis.same_work else first.units)
        spent = point.run.cpu_seconds - (0.0 if axis.same_work else first.run.cpu_seconds)
        each = f"{spent / more * 1e6:.2f}" if more > 0 else ""
        memory = f"{point.run.peak_bytes / 1e6:,.0f}"
        cells = (f"{point.size:,}", f"{point.bytes / 1e6:,.1f}", f"{point.run.cpu_seconds:.2f}", each, memory)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def section(found: Sequence[Point], axis: Axis) -> str:
    """An axis as a part of the page."""
    power = exponent(found, axis)
    said = "" if power is None else f" Growth at the end: **{power:.1f}**."
    return f"## {axis.name}\n\n{axis.meaning}{said}\n\n{table(found, axis)}\n"


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure how a report grows along each axis.")
    asked.add_argument(
        "--only", action="append", choices=[axis.name for axis in AXES], help="an axis alone, printed; may be repeated"
    )
    asked.add_argument("--most", type=int, default=1_000_000, help="largest captures, in units  [default: 1,000,000]")
    given = asked.parse_args()
    sections, curves = [], []
    with tempfile.TemporaryDirectory() as folder:
        for axis in AXES:
            if given.only and axis.name not in given.only:
                continue
            found = points(axis, given.most, Path(folder))
            sections.append(section(found, axis))
            curves.append(Curve(axis.name, [(point.size, point.run.cpu_seconds) for point in found], axis.same_work))
    head = (
        f"# Growth\n\nWritten by `make bench-growth`; `growth.py` says what is measured. On {commit()}: {machine()}.\n"
    )
    page = "\n".join([head, "![CPU seconds of a report by size](growth.svg)\n", *sections])
    print(page)
    if not given.only:
        (FOLDER / "growth.md").write_text(page, encoding="utf-8")
        (FOLDER / "growth.svg").write_text(plot(curves), encoding="utf-8")


if __name__ == "__main__":
    main()
