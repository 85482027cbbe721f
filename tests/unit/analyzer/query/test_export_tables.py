"""Exported directories: tables cut into slices of time, and what the manifest says of their files."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import made_rows
import pyarrow.parquet as pq
import pytest
from made_rows import START_NS, capture, exchange

from analyzer.base.tables import TABLES, arrow_schema, moments
from analyzer.query import export_tables
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import export
from analyzer.query.exported import open_dataset

ROWS = 1_000


def moments_in(path: Path, *columns: str) -> list[int]:
    """The moment of each row of a file, as a reader would have it: the first of these columns that is not null."""
    found = zip(*(pq.read_table(path)[column].to_pylist() for column in columns), strict=True)
    return [next(value for value in values if value is not None) for values in found]


@pytest.mark.parametrize("wild", [False, True])
def test_a_large_export_is_cut_into_slices_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wild: bool) -> None:
    monkeypatch.setattr(export_tables, "SLICE_ROWS", ROWS // 8)
    step = 100_000_000
    rows = [exchange(number, request_time_ns=START_NS + (number * 7 % ROWS) * step) for number in range(ROWS)]
    # Replies without a request have a moment, too; a broken clock may be centuries away.
    rows[5] |= {"request_time_ns": None, "response_time_ns": START_NS + 500 * step}
    if wild:
        rows[6]["request_time_ns"], rows[7]["request_time_ns"] = -(2**63) + 1, 2**63 - 1
    events = [{"exchange": row["exchange"], "time_ns": row["request_time_ns"]} for row in rows]
    files = {"captures": [capture()], "exchanges": rows, "group_events": events, "mutes": [{"begin_ns": START_NS}]}
    made = made_rows.write(tmp_path / "made", files)
    with Dataset(made) as dataset:
        assert export(dataset, tmp_path / "out", "parquet") == dict.fromkeys(TABLES, 0) | {
            table: len(rows) for table, rows in files.items()
        }
        before = {table: dataset.query(f"select * from {table} order by all") for table in files}

    told = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    assert {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.parquet")} == {
        file["file"] for written in told.values() for file in written
    }
    for table, written in told.items():
        for file in written:
            read = pq.ParquetFile(tmp_path / "out" / file["file"])
            assert read.metadata.num_rows == file["rows"]
            fields, own = list(read.schema_arrow), list(arrow_schema(table))
            assert fields[: len(own)] == own
            assert [field.name for field in fields[len(own) :]] == [*moments(arrow_schema(table).names)]
    assert 8 <= len(told["exchanges"]) <= 10
    assert len(told["mutes"]) == len(told["errors"]) == 1
    spans = []
    for file in told["exchanges"]:
        found = moments_in(tmp_path / "out" / file["file"], "request_time_ns", "response_time_ns")
        assert len(found) == file["rows"] <= ROWS // 8
        assert file["first_time_ns"] <= min(found) and max(found) <= file["last_time_ns"]
        spans.append((min(found), max(found)))
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    with open_dataset(tmp_path / "out") as read:
        assert {table: read.query(f"select * from {table} order by all") for table in files} == before


def test_a_small_export_has_a_file_for_each_table(tmp_path: Path) -> None:
    rows = [exchange(number, request_time_ns=START_NS + number, response_time_ns=None) for number in range(9)]
    with Dataset(made_rows.write(tmp_path, {"captures": [capture()], "exchanges": rows})) as dataset:
        export(dataset, tmp_path / "it's", "parquet")
    told = json.loads((tmp_path / "it's" / "manifest.json").read_text())["files"]
    assert told["exchanges"] == [
        {"file": "exchanges/part-00000.parquet", "rows": 9, "first_time_ns": START_NS, "last_time_ns": START_NS + 8}
    ]
    assert told["entries"] == [
        {"file": "entries/part-00000.parquet", "rows": 0, "first_time_ns": None, "last_time_ns": None}
    ]
