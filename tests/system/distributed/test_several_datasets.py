"""Several datasets are one: each row of each is there once, and captures keep their paths."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import analyzer
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.cli.main import main
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.export_tables import export
from analyzer.run import additions
from analyzer.run.local import open_dataset

NAMES = ("throttle", "ipv6")


@pytest.fixture(scope="module")
def each(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """One that was exported and one that grows, both of which count their captures from 0."""
    folder = tmp_path_factory.mktemp("several")
    with open_dataset([str(samples / "throttle.pcap.zst")], Options()) as dataset:
        export(dataset, folder / "throttle", "parquet")
    additions.add([str(samples / "ipv6.pcap.zst")], str(folder / "ipv6"), Options(jobs=1))
    return [str(folder / name) for name in NAMES]


def rows(dataset: Dataset, table: str) -> Counter[str]:
    """All rows, captures by their paths."""
    paths = {row["file"]: row["path"] for row in dataset.query("SELECT file, path FROM captures")}
    found = dataset.query(f"SELECT * FROM {table}")
    return Counter(
        repr({k: paths.get(v) if k == "file" or k.endswith("_file") else v for k, v in row.items()}) for row in found
    )


def test_each_row_is_there_once(each: list[str]) -> None:
    with open_dataset(each, Options()) as whole, open_dataset(each[:1], Options()) as one:
        with open_dataset(each[1:], Options()) as other:
            for table in TABLES:
                assert rows(whole, table) == rows(one, table) + rows(other, table), table
        files = [row["file"] for row in whole.query("SELECT file FROM captures ORDER BY file")]
        assert files == [0, 1] and rows(whole, "exchanges")


def test_a_question_is_answered_over_all(each: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    counts = []
    for inputs in (each[:1], each[1:], each):
        with analyzer.read(inputs) as found:
            counts.append(sum(row["count"] for row in found.latency().to_pylist()))
    assert counts[0] + counts[1] == counts[2] > 0
    assert main(["latency", *each]) == 0 and "Metadata" in capsys.readouterr().out


def test_hours_of_several_are_added(samples: Path, each: list[str], tmp_path: Path) -> None:
    to = str(tmp_path / "grown")
    additions.add([str(samples / "throttle.pcap.zst")], to, Options(jobs=1))
    with open_dataset([to, each[1]], Options()) as whole, open_dataset(each, Options()) as from_rows:
        assert whole.hours_answer() is not None and from_rows.hours_answer() is None
        assert whole.metric("latency") == from_rows.metric("latency")


def test_a_capture_never_counts_twice(each: list[str], samples: Path) -> None:
    with pytest.raises(DatasetError, match="its rows would count twice"):
        open_dataset([*each, each[0]], Options())
    with pytest.raises(DatasetError, match="captures or datasets, not both"):
        open_dataset([each[0], str(samples / "ipv6.pcap.zst")], Options())
