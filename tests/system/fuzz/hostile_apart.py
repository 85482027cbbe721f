"""Runs of `hostile.runs` in a process of their own, which forks a process for each run.

A process that has run other tests before is large, and what it forks is as large from the beginning: the limits of memory would
be its limits. As a program this reads what to do from stdin and writes what came of it to stdout, both pickled.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verb_runs import Run


def runs(name: str, lines: Sequence[str], folder: Path, size: int | None = None) -> list[tuple[Run, str | None]]:
    """What each line answers on one file, and the law that it breaks."""
    return [(done, problem) for _, done, problem in runs_of({name: lines}, folder, size)]


def runs_of(
    asked: Mapping[str, Sequence[str]], folder: Path, size: int | None = None
) -> list[tuple[str, Run, str | None]]:
    """The same of several files, each with its lines: most of the time of one goes into the start of the process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    given = pickle.dumps((dict(asked), folder, size))
    done = subprocess.run([sys.executable, __file__], input=given, stdout=subprocess.PIPE, env=environment, check=True)
    found: list[tuple[str, Run, str | None]] = pickle.loads(done.stdout)
    return found


def main() -> None:
    import forked_kanalyze
    import hostile

    asked, folder, size = pickle.loads(sys.stdin.buffer.read())
    forked_kanalyze.load()
    # What is forked would copy all that a collection of its own looks through.
    gc.collect()
    gc.freeze()
    found = [
        (name, *run)
        for name, lines in asked.items()
        for run in hostile.runs(name, lines, folder, hostile.SMALL_BYTES if size is None else size)
    ]
    sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    main()
