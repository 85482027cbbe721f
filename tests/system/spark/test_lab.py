"""Every lab capture, cut in parts and read on Spark, gives the rows of a run on this machine, ids included.

A job takes about as long for some captures as for one. Each of them is from a place of its own: those of the same time would
else be one task, as they could belong together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from jobs import LONG, Program, unlike, unpacked
from oracle import Capture, captures

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.run.local import open_dataset
from analyzer.spark.job import planned

pytestmark = LONG
JOBS = 5


class Files(NamedTuple):
    """A capture, where it lies without compression."""

    capture: Capture
    paths: tuple[Path, ...]

    @property
    def tap(self) -> tuple[str, str]:
        return self.capture.name, f"{self.capture.name}.*"

    @property
    def key_log(self) -> tuple[Path, ...]:
        path = self.capture.folder / f"{self.capture.name}.keylog"
        return (path,) if path.exists() else ()

    @property
    def largest_bytes(self) -> int:
        return max(path.stat().st_size for path in self.paths)


@pytest.fixture(scope="module")
def jobs(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[Files]]:
    """Captures of about the same size together: tasks are as small as the smallest of them wants."""
    folder = tmp_path_factory.mktemp("lab")
    every = captures(shared / "captures" / "lab")
    found = [Files(capture, tuple(unpacked(path, folder) for path in capture.files)) for capture in every]
    found.sort(key=lambda files: files.largest_bytes)
    return [found[number * len(found) // JOBS : (number + 1) * len(found) // JOBS] for number in range(JOBS)]


@pytest.mark.parametrize("number", range(JOBS))
def test_the_rows_are_those_of_a_run_here(
    number: int, jobs: list[list[Files]], program: Program, tmp_path: Path
) -> None:
    chosen = jobs[number]
    inputs = [str(path) for files in chosen for path in files.paths]
    taps = [word for files in chosen for word in ("--tap", "=".join(files.tap))]
    key_logs = [word for files in chosen for log in files.key_log for word in ("--tls-keylog", str(log))]
    task_bytes = chosen[0].largest_bytes // 2
    tasks = assert_all_are_cut(chosen, inputs, task_bytes)

    there, here = str(tmp_path / "there"), str(tmp_path / "here")
    options = [*inputs, *taps, *key_logs]
    done = program.run("spark", *options, "--task-size", str(task_bytes), "--out", there)
    assert done["code"] == 0, done["err"]
    assert f"reading {tasks} of {tasks} tasks" in done["err"]
    assert main(["export", *options, "--jobs", "1", "--to", here]) == 0
    with open_dataset([there], Options()) as written, open_dataset([here], Options()) as made:
        assert unlike(written, made) == {}
        seen = made.query(
            "SELECT tap, count(*) AS rows FROM connections JOIN exchanges USING (connection) GROUP BY tap"
        )
        assert {row["tap"] for row in seen} == {files.capture.name for files in chosen}


def assert_all_are_cut(chosen: Sequence[Files], inputs: Sequence[str], task_bytes: int) -> int:
    """The number of tasks."""
    made = planned(inputs, Options(taps=tuple(files.tap for files in chosen)), task_bytes).plan
    pieces = Counter(piece.file for task in made.tasks for piece in task.pieces)
    assert {made.taps[file] for file, count in pieces.items() if count > 1} == {files.capture.name for files in chosen}
    return len(made.tasks)
