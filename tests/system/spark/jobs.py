"""A program with a Spark session that runs command lines of kanalyze, and how what they leave is compared."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from environment import python
from parts_agree import agree

from analyzer.base.tables import TABLES
from analyzer.inputs.sources import Source
from analyzer.query.dataset import Dataset

HERE = Path(__file__).resolve().parent
SECONDS = 600
LOG_BYTES = 4_000
# For `make test-spark`, not for every check.
LONG = pytest.mark.skipif(not os.environ.get("KANALYZE_LONG"), reason="minutes: KANALYZE_LONG=1")

Answer = dict[str, Any]


class Program:
    """Runs `run_job.py` for as long as the block does, in a folder of its own below `scratch`."""

    def __init__(self, scratch: Path, environment: Mapping[str, str]) -> None:
        command = [python(), str(HERE / "run_job.py")]
        self.folder = scratch / "started_here"
        self.folder.mkdir()
        self._log = scratch / "log"
        answers, given = os.pipe()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, str(given)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[given],
                cwd=self.folder,
                env={**os.environ, **environment},
                text=True,
            )
        os.close(given)
        self._answers = os.fdopen(answers)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        ended = Timer(SECONDS, self._process.kill)
        ended.start()
        self._process.stdin.close()
        self._process.wait()
        ended.cancel()
        self._answers.close()

    def run(self, *words: str | Path, seconds: float = SECONDS) -> Answer:
        """The exit code of a command line, and what it said: `code`, `out`, `err`. After `seconds` the program is ended."""
        ended = Timer(seconds, self._process.kill)
        ended.start()
        try:
            print(json.dumps([str(word) for word in words]), file=self._process.stdin, flush=True)
            line = self._answers.readline()
        except BrokenPipeError:
            line = ""
        finally:
            ended.cancel()
        assert line, f"the program ended: {self._log.read_text(errors='replace')[-LOG_BYTES:]}"
        answer: Answer = json.loads(line)
        return answer


def unpacked(capture: Path, folder: Path) -> Path:
    """The capture without its compression: only such files are cut."""
    path = folder / capture.name.removesuffix(".zst").removesuffix(".gz")
    path.write_bytes(b"".join(Source(str(capture), capture).blocks()))
    return path


def rows(dataset: Dataset, table: str, left_out: str = "") -> list[tuple[Any, ...]]:
    """All rows, in an order of their own, without one of their columns."""
    chosen = f"* EXCLUDE ({left_out})" if left_out else "*"
    found = (tuple(row.values()) for row in dataset.query(f"SELECT {chosen} FROM {table}"))
    return sorted(found, key=lambda row: [(value is not None, value) for value in row])


def unlike(written: Dataset, made: Dataset, left_out: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Table -> how many rows each has, and the first that differ; only tables that are not the same. `left_out`: table -> a
    column that does not count."""
    found = {}
    for table in TABLES:
        one, other = (rows(dataset, table, (left_out or {}).get(table, "")) for dataset in (written, made))
        if not agree(table, one, other):
            first = next(pair for pair in zip_longest(one, other) if pair[0] != pair[1])
            found[table] = (len(one), len(other), first)
    return found
