"""Shows that two checkouts of kanalyze answer alike: `python tools/compare_checkouts.py BEFORE AFTER`.

Both must be built (`.venv/bin/python`). For every capture of the samples and of the shared folder both are asked the same
command lines: the report at three widths, the JSON of every verb, single exchanges, limits, filters, tables (see
`compare/calls.py`). Exit code, standard output and standard error must be equal byte for byte; of exported tables the columns
and the rows, in any order. What differs is printed in short; the last line counts. Exit code: 0 equal, 1 not, 2 cannot tell.

With --cache DIR the answers of BEFORE are kept there, and used as long as BEFORE, the captures and these tools stay the same.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic
from zlib import crc32

import pyarrow.parquet as pq
from compare import differences
from compare.calls import TABLES
from compare.captures import EDGE, PIECE, Captures, Unit
from compare.runs import Checkout, CheckoutError, Kept, Runner, keep, sandbox_of, write_lines

# Of one capture so many calls that differ are shown.
MOST_SHOWN = 8
TOLD_EVERY = 20
# The files of these tools that decide what is asked, and how.
ASKING = ("calls.py", "captures.py", "driver.py")


@dataclass
class Count:
    captures: int = 0
    invocations: int = 0
    tables: int = 0
    rows: int = 0
    differences: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(asdict(self).values(), asdict(other).values(), strict=True)))

    def __str__(self) -> str:
        return ", ".join(f"{number:,} {name}" for name, number in asdict(self).items())


class Comparison:
    """Two checkouts, and where the answers of the first one are kept."""

    def __init__(self, before: Checkout, after: Checkout, captures: Captures, cache: Path, scratch: Path) -> None:
        self._before = before
        self._after = after
        self._captures = captures
        self._cache = cache
        self._scratch = scratch
        asking = [Path(__file__).parent / "compare" / name for name in ASKING]
        # Not their text: to reword a comment must not cost an hour.
        self._same_for_all = [before.digest(), *(ast.dump(ast.parse(path.read_text())) for path in asking)]
        self._idle: dict[Checkout, list[Runner]] = {before: [], after: []}

    @contextmanager
    def _runner(self, unit: Unit, checkout: Checkout) -> Iterator[Runner]:
        """A process for this unit alone, or for many small ones: it takes as long to begin as such a unit does."""
        if unit.kind not in (EDGE, PIECE):
            with checkout.runner() as runner:
                yield runner
            return
        idle = self._idle[checkout]
        runner = idle.pop() if idle else checkout.runner()
        try:
            yield runner
        finally:
            idle.append(runner)

    def close(self) -> None:
        for idle in self._idle.values():
            for runner in idle:
                runner.close()

    def run(self, unit: Unit) -> tuple[Count, list[str]]:
        """Counts, and the lines that tell the differences."""
        kept = self._kept(unit)
        count = Count(captures=1)
        lines: list[str] = []
        with sandbox_of(self._scratch / folder_name(unit), self._captures, self._after) as sandbox:
            with self._runner(unit, self._after) as runner:
                for number, call in enumerate(kept.calls):
                    found = list(differences.of_answers(kept.answer(number), runner.ask(call, sandbox)))
                    count.invocations += 1
                    if found:
                        count.differences += 1
                        lines += self._told(unit, str(call), found, count.differences)
            files = sorted(kept.tables.rglob("*.parquet"))
            count.tables += len({path.relative_to(kept.tables).parts[0] for path in files})
            count.rows += sum(pq.read_metadata(path).num_rows for path in files)
            if found := list(differences.of_tables(kept.tables, sandbox / TABLES)):
                # What belongs to a difference is indented.
                count.differences += sum(not line.startswith(" ") for line in found)
                lines += [f"{unit.name}: export --to {TABLES}", *(f"  {line}" for line in found)]
        if count.differences > MOST_SHOWN:
            lines.append(f"{unit.name}: {count.differences:,} differences in all")
        return count, lines

    def _kept(self, unit: Unit) -> Kept:
        key = json.dumps([self._same_for_all, self._captures.digest(unit), asdict(unit)])
        digest = sha256(key.encode()).hexdigest()
        folder = self._cache / folder_name(unit)
        if Kept.is_of(folder, digest):
            return Kept(folder)
        with self._runner(unit, self._before) as runner:
            return keep(unit, self._before, runner, self._captures, folder, digest)

    def _told(self, unit: Unit, what: str, found: list[str], number: int) -> Iterator[str]:
        if number <= MOST_SHOWN:
            yield f"{unit.name}: {what}"
            yield from (f"  {line}" for line in found)


def folder_name(unit: Unit) -> str:
    return f"{re.sub('[^A-Za-z0-9.]+', '_', unit.name)[-60:]}_{crc32(unit.name.encode()):08x}"


def compare(comparison: Comparison, units: list[Unit]) -> Count:
    """As many units at a time as there are processors; what differs is told as it is found."""
    began, total = monotonic(), Count()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = [pool.submit(comparison.run, unit) for unit in units]
        try:
            for future in running:
                count, lines = future.result()
                total += count
                print(*lines, sep="\n", end="\n" if lines else "", flush=True)
                if total.captures % TOLD_EVERY == 0:
                    print(f"{monotonic() - began:5.0f} s  {total}", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return total


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares what two checkouts of kanalyze answer.")
    parser.add_argument("before", type=Path, help="the baseline: a built checkout")
    parser.add_argument("after", type=Path, help="a built checkout")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the baseline's answers in DIR, and use them")
    parser.add_argument("--quick", action="store_true", help="a dozen small captures")
    return parser.parse_args()


def main() -> int:
    given, began = arguments(), monotonic()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compare-")))
        made = scratch / "made"
        made.mkdir()
        try:
            before = Checkout(given.before, scratch / "before")
            after = Checkout(given.after, scratch / "after")
            write_lines(made)
            captures = Captures(before.samples, made)
            units = captures.units(given.quick)
            captures.make(units)
            comparison = Comparison(
                before, after, captures, (given.cache or scratch / "cache").resolve(), scratch / "runs"
            )
            with closing(comparison):
                total = compare(comparison, units)
            print(f"took {monotonic() - began:,.0f} s", file=sys.stderr)
        except CheckoutError as error:
            print(error, file=sys.stderr)
            return 2
    print(total)
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
