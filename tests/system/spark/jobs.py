"""A program with a Spark session that runs command lines of kanalyze, and how what they leave is compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from select import select
from threading import Timer
from time import monotonic, sleep
from typing import Any

import pytest
from environment import python
from parts_agree import agree
from runs_apart import of_who_was_alone

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
    """Runs `run_job.py`, from the first command line to the end of the block, in a folder of its own below `scratch`."""

    def __init__(self, scratch: Path, environment: Mapping[str, str]) -> None:
        self.folder = scratch / "started_here"
        self.folder.mkdir()
        # Neither the driver nor its workers take modules from the working directory.
        (self.folder / "analyzer.py").write_text("raise ImportError('taken from the working directory')")
        self._log = scratch / "log"
        # What is killed leaves there what it would have removed.
        self._environment = {**os.environ, **environment, "TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch)}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        ended = Timer(SECONDS, self._process.kill)
        ended.start()
        self._process.stdin.close()
        self._process.wait()
        ended.cancel()
        self._answers.close()

    def run(self, *words: str | Path, seconds: float = SECONDS) -> Answer:
        """The exit code of a command line, and what it said: `code`, `out`, `err`. After `seconds` the program is ended."""
        process = self._begun(words)
        ended = Timer(seconds, process.kill)
        ended.start()
        try:
            line = self._answers.readline()
        finally:
            ended.cancel()
        assert line, self._last_words()
        answer: Answer = json.loads(line)
        return answer

    def killed_when(self, is_time: Callable[[], bool], *words: str | Path) -> None:
        """Kills the program, Java and all, while it runs a command line, as soon as it is time. The next one begins it anew."""
        process = self._begun(words)
        ends = monotonic() + SECONDS
        try:
            while not is_time():
                assert process.poll() is None and monotonic() < ends, self._last_words()
                sleep(0.002)
            assert not select([self._answers], [], [], 0)[0], "the command was over before"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._answers.close()
            self._process = None

    def _begun(self, words: Sequence[str | Path]) -> subprocess.Popen[str]:
        """The program, which has been given a command line."""
        if self._process is None:
            self._start()
        assert self._process is not None
        with suppress(BrokenPipeError):
            print(json.dumps([str(word) for word in words]), file=self._process.stdin, flush=True)
        return self._process

    def _start(self) -> None:
        answers, given = os.pipe()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [python(), str(HERE / "run_job.py"), str(given)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[given],
                cwd=self.folder,
                env=self._environment,
                text=True,
                start_new_session=True,
            )
        os.close(given)
        self._answers = os.fdopen(answers)

    def _last_words(self) -> str:
        return f"the program ended: {self._log.read_text(errors='replace')[-LOG_BYTES:]}"


def unpacked(capture: Path, folder: Path) -> Path:
    """The capture without its compression: only such files are cut."""
    path = folder / capture.name.removesuffix(".zst").removesuffix(".gz")
    path.write_bytes(b"".join(Source(str(capture), capture).blocks()))
    return path


def rows(dataset: Dataset, table: str, left_out: str = "") -> list[tuple[Any, ...]]:
    """All rows, in an order of their own, without one of their columns; what only one run over all sees of a row is null."""
    chosen = f"* EXCLUDE ({left_out})" if left_out else "*"
    every = dataset.query(f"SELECT {chosen} FROM {table}")
    found = (tuple((row | dict.fromkeys(of_who_was_alone(table, row))).values()) for row in every)
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
