"""Every verb on every hostile file: what it answers, how much memory and time it takes.

    python tests/system/fuzz/hostile.py [--bytes N] [--files GLOB] [--lines WORD] [--every N] [--show N]

Prints a line for each law that is broken, and for each verb and format its exit codes and maxima. `--every 7` takes a seventh
of the pairs of line and file, other ones for each file; `--bytes` is about how large files are that can grow.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from shutil import rmtree

# This is also a program: the helpers of all tests, and the project itself.
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import forked_kanalyze  # noqa: E402
import hostile_files  # noqa: E402
import hostile_messages  # noqa: E402
import hostile_packets  # noqa: E402
import verb_runs  # noqa: E402
from kinds import Broken  # noqa: E402
from plain_conversations import Case  # noqa: E402
from verb_runs import Run  # noqa: E402

CASES: dict[str, Case] = {**hostile_files.CASES, **hostile_packets.CASES, **hostile_messages.CASES}
SMALL_BYTES = 30_000
MOST_BYTES_OF_MEMORY = 700 << 20
MOST_BYTES_KEPT = 32 << 20  # of what a run answers
EXCHANGES = "exchanges --format jsonl"


def runs(name: str, lines: Sequence[str], folder: Path, size: int = SMALL_BYTES) -> Iterator[tuple[Run, str | None]]:
    """What each line answers on one file, and the law that it breaks.

    All that takes memory is done in processes of their own: what is forked later would begin with all of it.
    """
    capture, other = folder / f"{name}.cap", folder / "other.cap"
    verb_runs.apart(lambda: capture.write_bytes(CASES[name](size)))
    if any(verb_runs.OTHER in line for line in lines):
        other.write_bytes(hostile_files.pcap(hostile_files.base()))
    largest = "#1"
    if any(verb_runs.EXCHANGE in line for line in lines):
        largest = verb_runs.apart(lambda: largest_exchange(capture, folder))
    anew = size > SMALL_BYTES
    for line in lines:
        given = capture if verb_runs.STDIN in line.split() else None
        words = verb_runs.words(line, capture, other, largest, folder)
        yield verb_runs.apart(lambda words=words, line=line, given=given: judged(line, words, folder, given, anew))
        new = folder / "new"
        rmtree(new) if new.is_dir() else new.unlink(missing_ok=True)
    capture.unlink()


def largest_exchange(capture: Path, folder: Path) -> str:
    seen = verb_runs.run(EXCHANGES, [*EXCHANGES.split(), str(capture)], folder)
    return verb_runs.largest_exchange(seen.out) if seen.code == 0 else "#1"


def judged(line: str, words: Sequence[str], folder: Path, given: Path | None, anew: bool) -> tuple[Run, str | None]:
    done = verb_runs.run(line, words, folder, given, anew=anew)
    return replace(done, out=done.out[:MOST_BYTES_KEPT]), broken(done, folder)


def broken(done: Run, folder: Path) -> str | None:
    """The law that a run broke; None: it kept all."""
    try:
        verb_runs.judge(done, folder)
    except (Broken, ValueError) as problem:
        rmtree(folder / "temporary", ignore_errors=True)
        return str(problem)
    if done.peak_bytes > MOST_BYTES_OF_MEMORY:
        return f"{done.peak_bytes >> 20} MiB of memory"
    return None


def chosen(lines: Sequence[str], number: int, every: int) -> list[str]:
    """The lines that a file with this number is given."""
    return [line for place, line in enumerate(lines) if (place + number) % every == 0]


class Maxima:
    """Of one verb and format: exit codes, and what cost most."""

    def __init__(self) -> None:
        self.codes: Counter[int] = Counter()
        self.peak = (0, "")
        self.seconds = (0.0, "")

    def add(self, done: Run, name: str) -> None:
        self.codes[done.code] += 1
        self.peak = max(self.peak, (done.peak_bytes, name))
        self.seconds = max(self.seconds, (done.seconds, name))

    def row(self, title: str) -> str:
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(self.codes.items()))
        return f"| {title} | {codes} | {self.peak[0] >> 20} MiB ({self.peak[1]}) | {self.seconds[0]:.1f} s ({self.seconds[1]}) |"


def title(line: str) -> str:
    """Verb and format of a line."""
    words = line.split()
    return f"{words[0]} {words[words.index('--format') + 1]}" if "--format" in words else words[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=SMALL_BYTES)
    parser.add_argument("--files", default="*")
    parser.add_argument("--lines", default="")
    parser.add_argument("--every", type=int, default=1)
    asked = parser.parse_args()
    forked_kanalyze.load()
    lines = [line for line in verb_runs.LINES if asked.lines in line]
    names = [name for name in CASES if fnmatch(name, asked.files)]
    maxima: dict[str, Maxima] = {}
    problems = 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        for number, name in enumerate(names):
            for done, problem in runs(name, chosen(lines, number, asked.every), Path(folder), asked.bytes):
                maxima.setdefault(title(done.line), Maxima()).add(done, name)
                if problem is not None:
                    problems += 1
                    print(f"{name}: {done.line}: {problem[:600]}", flush=True)
    print(f"{len(names)} files, {sum(each.codes.total() for each in maxima.values()):,} runs, {problems} problems")
    print("| verb | exit codes | memory at most | processor time at most |", "|---|---|---|---|", sep="\n")
    print(*(maxima[each].row(each) for each in sorted(maxima)), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
