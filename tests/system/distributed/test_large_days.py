"""A day with many rows is several files of some minutes each: the same rows, the same sums, and a question for a short time reads
the files of that time alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from effort import one_in
from grown import of_one_run
from parts_of_captures import days, later
from test_growing import check, of_dataset
from test_hours import HOUR_NS, QUESTIONS, answer, from_rows

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.query import compaction, partitions
from analyzer.query.dataset_places import LocalPlace
from analyzer.query.days import DAY_NS
from analyzer.query.exported import OF_EXCHANGES
from analyzer.query.growing import read_manifest
from analyzer.run import additions, local

OPTIONS = Options(jobs=1)


@pytest.fixture
def captures(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Three captures, an hour after the other, of a day; a file of thirty rows is large."""
    monkeypatch.setattr(partitions, "LARGE_ROWS", 30)
    monkeypatch.setattr(compaction, "MOST_FILES", 1)
    paths = days(samples / "throttle.pcap.zst", 3, tmp_path)
    for number, path in enumerate(paths):
        path.write_bytes(later(path.read_bytes(), number * 3600))
    return paths


def test_a_large_day_is_several_files(captures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    to = tmp_path / "set"
    additions.add(list(map(str, captures)), str(to), OPTIONS)
    check(of_dataset(to), of_one_run(captures))
    files = read_manifest(LocalPlace(to)).files()
    for table in OF_EXCHANGES[:2]:
        cut = [file for file in files[table] if "-t" in file.file]
        assert len(cut) > 1 and all(file.rows >= partitions.LARGE_ROWS for file in cut)
        spans = [(file.first_time_ns or 0, file.last_time_ns or 0) for file in cut if "-open" not in file.file]
        assert all(one[1] < other[0] for one, other in pairwise(spans))
    questions = QUESTIONS[:: one_in(4)]
    expected = [from_rows(str(to), settings, monkeypatch) for settings in questions]
    with local.open_dataset([str(to)], OPTIONS) as dataset:
        for settings, rows in zip(questions, expected, strict=True):
            assert answer(dataset, settings) == rows and dataset.hours_answer() is not None
    assert len(files["client_days"]) == len({file.file.partition("-t")[0] for file in files["exchanges"]})


def test_a_short_time_reads_its_files_alone(captures: list[Path], tmp_path: Path) -> None:
    to = tmp_path / "set"
    additions.add(list(map(str, captures)), str(to), OPTIONS)
    manifest = read_manifest(LocalPlace(to)).files()["exchanges"]
    first = min(file.first_time_ns or 0 for file in manifest)
    hour = first - first % HOUR_NS
    assert hour % DAY_NS + 3 * HOUR_NS <= DAY_NS
    asked = Filters(from_ns=hour + 1, to_ns=hour + HOUR_NS)
    with local.open_dataset([str(to)], OPTIONS) as whole:
        counted = whole.query(f"SELECT count(*) AS n FROM exchanges WHERE request_time_ns < {asked.to_ns}")
    others = [file.file for file in manifest if (file.first_time_ns or 0) >= hour + HOUR_NS]
    with local.open_dataset([str(to)], Options(jobs=1, filters=asked)) as dataset:
        for name in others:
            (to / name).unlink()
        assert dataset.query("SELECT count(*) AS n FROM exchanges") == counted and others and counted[0]["n"]


def test_what_was_cut_is_not_joined_again(
    captures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files are, and each sum stays beside its exchanges."""
    from analyzer.query import growing

    monkeypatch.setattr(growing, "KEPT_RUNS", 1)
    to = tmp_path / "set"
    additions.add(list(map(str, captures[:2])), str(to), OPTIONS)
    additions.add([str(captures[2])], str(to), OPTIONS)
    check(of_dataset(to), of_one_run(captures))
    for settings in QUESTIONS[: 3 // one_in(3)]:
        with local.open_dataset([str(to)], OPTIONS) as dataset:
            assert answer(dataset, settings) == from_rows(str(to), settings, monkeypatch)
