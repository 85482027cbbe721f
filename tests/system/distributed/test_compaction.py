"""Many small files of a dataset that grows become one a day, with the same rows; a run that is killed at it leaves one state or the
other."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest
from parts_of_captures import days
from test_growing import OPTIONS, Killed, check, globbed, of_dataset, of_one_run, steps_until

from analyzer.distributed import open_connections
from analyzer.query import compaction, growing
from analyzer.query.compaction import compact
from analyzer.query.dataset_places import LocalPlace
from analyzer.run import additions, local


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """And connections end soon: else no row is settled before the last run."""
    monkeypatch.setattr(open_connections, "LINGER_NS", 500_000_000)
    monkeypatch.setattr(growing, "KEPT_RUNS", 2)
    monkeypatch.setattr(compaction, "MOST_FILES", 1)


def files(to: Path, table: str) -> list[str]:
    return [file["file"] for file in json.loads((to / "manifest.json").read_text())["files"][table]]


def test_small_files_become_one_with_the_same_rows(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = days(samples / "throttle.pcap.zst", 6, tmp_path)
    to = tmp_path / "set"
    with monkeypatch.context() as patch:
        patch.setattr(compaction, "MOST_FILES", 1_000)
        for path in paths:
            additions.add([str(path)], str(to), OPTIONS)
    expected = of_one_run(paths)
    before = {table: files(to, table) for table in ("captures", "exchanges", "hours", "entries")}
    place, begun = LocalPlace(to), tmp_path / "begun"
    shutil.copytree(to, begun)
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
    for kill_at in (1, last // 2, last):
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


def test_adding_goes_on_behind_it(samples: Path, tmp_path: Path) -> None:
    """Each run may join what the ones before it left."""
    paths = days(samples / "throttle.pcap.zst", 6, tmp_path)
    to = tmp_path / "set"
    for path in paths:
        additions.add([str(path)], str(to), OPTIONS)
    assert any("joined" in name for name in files(to, "exchanges"))
    check(of_dataset(to), of_one_run(paths))


def test_what_was_added_is_there_when_files_cannot_be_joined(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (path,) = days(samples / "throttle.pcap.zst", 1, tmp_path)
    monkeypatch.setattr(additions, "compact", full)
    added = additions.add([str(path)], str(tmp_path / "set"), OPTIONS)
    assert added.captures == 1 and not added.failed
    assert [line for line in added.warnings if "not joined" in line and "No space left" in line]
    check(of_dataset(tmp_path / "set"), of_one_run([path]))
