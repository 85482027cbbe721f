"""A dataset that grew by a capture a run, as it was after each of its runs; tests go on from a copy of the one that they want."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from parts_of_captures import days
from runs_apart import compared

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed import open_connections
from analyzer.query.dataset import Dataset
from analyzer.run import additions, local

OPTIONS = Options(jobs=1)
# These captures last some seconds: else all of their connections would count as open.
LINGER_NS = 500_000_000
Rows = dict[str, list[str]]


@dataclass(frozen=True)
class Grown:
    """`captures` are what the runs read, one each, and are not to be changed."""

    captures: tuple[Path, ...]
    folder: Path

    def after(self, runs: int) -> Path:
        """The dataset after so many runs, not to be changed."""
        return self.folder / f"after{runs}"

    def copied(self, runs: int, folder: Path) -> Path:
        """The same for this test alone."""
        return shutil.copytree(self.after(runs), folder / "set")

    def rows(self, runs: int) -> Rows:
        """The rows of one run over the first captures."""
        return _of_one_run(self.captures[:runs])


def grow(capture: Path, count: int, folder: Path) -> Grown:
    """Cuts the capture in so many, and adds one after the other."""
    grown = Grown(tuple(days(capture, count, folder)), folder)
    to = folder / "set"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_connections, "LINGER_NS", LINGER_NS)
        for runs, path in enumerate(grown.captures, 1):
            assert additions.add([str(path)], str(to), OPTIONS).captures == 1
            shutil.copytree(to, grown.after(runs))
    return grown


def rows(dataset: Dataset) -> Rows:
    """All rows; a capture is named by its path, as its number depends on when it was read."""
    paths = {row["file"]: Path(row["path"]).name for row in dataset.query("SELECT file, path FROM captures")}
    found = {}
    for table in TABLES:
        every = dataset.query(f"SELECT * FROM {table}")
        named = [
            {k: paths.get(v) if k == "file" or k.endswith("_file") else v for k, v in row.items()} for row in every
        ]
        found[table] = sorted(repr(compared(table, row)) for row in named)
    return found


def of_one_run(paths: list[Path]) -> Rows:
    with local.open_dataset([str(path) for path in paths], OPTIONS) as dataset:
        return rows(dataset)


@cache
def _of_one_run(paths: tuple[Path, ...]) -> Rows:
    return of_one_run(list(paths))
