"""Many small files of a dataset that grows become one a day, with the same rows; a run that is killed at it leaves one state or the
other."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest
from effort import also_long
from grown import LINGER_NS, OPTIONS, Grown
from test_growing import Killed, check, globbed, of_dataset, steps_until

from analyzer.distributed import open_connections
from analyzer.query import compaction, growing
from analyzer.query.compaction import compact
from analyzer.query.dataset_places import LocalPlace
from analyzer.run import additions, local


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """And connections end soon: else no row is settled before the last run."""
    monkeypatch.setattr(open_connections, "LINGER_NS", LINGER_NS)
    monkeypatch.setattr(growing, "KEPT_RUNS", 1)
    monkeypatch.setattr(compaction, "MOST_FILES", 1)


def files(to: Path, table: str) -> list[str]:
    return [file["file"] for file in json.loads((to / "manifest.json").read_text())["files"][table]]


def test_small_files_become_one_with_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown_days: Grown
) -> None:
    begun, expected, to = grown_days.after(5), grown_days.rows(5), grown_days.copied(5, tmp_path)
    before = {table: files(to, table) for table in ("captures", "exchanges", "hours", "entries")}
    place = LocalPlace(to)
    (folder := tmp_path / "scratch").mkdir()
    with monkeypatch.context() as patch:
        steps = steps_until(1 << 30, patch)
        compact(place, growing.read_manifest(place), folder)
        last = steps()
    check(of_dataset(to), expected)
    assert all(len(files(to, table)) < len(names) for table, names in before.items())
    assert len(files(to, "exchanges")) == len(files(to, "hours")) and not list(folder.iterdir())
    assert globbed(to) == len(expected["exchanges"])
    with local.open_dataset([str(to)], OPTIONS) as dataset:
        assert dataset.hours_answer() is not None
        (told,) = dataset.query("SELECT sum(requests) AS n FROM hours")
        assert told["n"] == dataset.query("SELECT count(*) AS n FROM exchanges")[0]["n"]
    for kill_at in also_long([last // 2, last], [1]):
        shutil.rmtree(to)
        shutil.copytree(begun, to)
        with monkeypatch.context() as patch, pytest.raises(Killed):
            steps_until(kill_at, patch)
            compact(place, growing.read_manifest(place), folder)
        check(of_dataset(to), expected)
        growing.settle(place, growing.read_manifest(place))
        assert globbed(to) == len(expected["exchanges"])
        shutil.rmtree(folder)
        folder.mkdir()


def test_adding_goes_on_behind_it(tmp_path: Path, grown_days: Grown) -> None:
    """Each run may join what the ones before it left."""
    to = grown_days.copied(3, tmp_path)
    for path in grown_days.captures[3:]:
        additions.add([str(path)], str(to), OPTIONS)
        assert any("joined" in name for name in files(to, "exchanges"))
    check(of_dataset(to), grown_days.rows(5))


def test_what_was_added_is_there_when_files_cannot_be_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown_days: Grown
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(additions, "compact", full)
    added = additions.add([str(grown_days.captures[0])], str(tmp_path / "set"), OPTIONS)
    assert added.captures == 1 and not added.failed
    assert [line for line in added.warnings if "not joined" in line and "No space left" in line]
    check(of_dataset(tmp_path / "set"), grown_days.rows(1))
