"""Datasets: views over Parquet, filters, exported directories."""

from __future__ import annotations

import json
from pathlib import Path

import made_rows
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_rows import START_NS, capture, connection, dataset, error, exchange

from analyzer.base.filters import Filters
from analyzer.base.tables import TABLES
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.exported import is_dataset, open_dataset
from analyzer.query.table_views import parquet

TABLES_OF_FIVE = {
    "connections": [connection(1, broker_id=7), connection(2, client_address="fd00::2", broker_port=9093)],
    "exchanges": [
        exchange(0, client_id="Orders-app", api_key=0, api_name="Produce"),
        exchange(1, client_id="orders-app", api_key=1, api_name="Fetch", at_ns=START_NS + 5),
        exchange(2, client_id="o'brien", connection=2, client_address="fd00::2", broker_port=9093),
        exchange(3, status="orphan_reply", at_ns=START_NS + 9),
        exchange(4, client_id="x%_*", at_ns=START_NS + 2**40),
    ],
    "entries": [
        {"exchange": 0, "connection": 1, "side": "request", "topic": "orders", "topic_id": "AbC"},
        {"exchange": 1, "connection": 1, "side": "request", "topic": "payments", "topic_id": None},
        {"exchange": 1, "connection": 1, "side": "request", "topic": "orders", "topic_id": None},
    ],
    "errors": [error(0, 3, topic="orders"), error(2, 3, topic="gone"), error(4, 41)],
}


def chosen(directory: Path, **values: object) -> list[int]:
    with dataset(directory, TABLES_OF_FIVE, filters=Filters(**values)) as found:
        assert found.query("SELECT count(*) AS n FROM all_exchanges") == [{"n": 5}]
        return [row["exchange"] for row in found.query("SELECT exchange FROM exchanges ORDER BY 1")]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"clients": ("orders-app",)}, [0, 1]),
        ({"clients": ("orders*", "o'brien")}, [0, 1, 2]),
        ({"clients": ("x%_[*]",)}, [4]),
        ({"clients": ("'; DROP VIEW exchanges; --",)}, []),
        ({"clients": ("10.0.0.1",)}, [0, 1, 3, 4]),
        ({"clients": ("[fd00::2]:50000",)}, [2]),
        ({"brokers": ("7",)}, [0, 1, 3, 4]),
        ({"brokers": ("10.0.1.1:9093",)}, [2]),
        ({"brokers": ("99999999999999999999",)}, []),
        ({"apis": ("PRODUCE", "1")}, [0, 1]),
        ({"apis": ("*",)}, [0, 1, 2, 4]),
        ({"topics": ("orders",)}, [0, 1]),
        ({"topics": ("gone",)}, [2]),
        ({"topics": ("AbC",)}, [0]),
        ({"topics": ("abc",)}, []),
        ({"from_ns": START_NS + 5, "to_ns": START_NS + 10}, [1, 3]),
        ({"clients": ("orders-app",), "apis": ("Fetch",)}, [1]),
    ],
)
def test_filters(tmp_path: Path, values: dict[str, object], wanted: list[int]) -> None:
    assert chosen(tmp_path, **values) == wanted


def test_a_filter_narrows_every_table_but_coverage(tmp_path: Path) -> None:
    with dataset(tmp_path, TABLES_OF_FIVE, filters=Filters(topics=("orders",))) as found:
        assert found.query("SELECT topic, code FROM errors") == [{"topic": "orders", "code": 3}]
        assert found.query("SELECT count(*) AS n FROM entries") == [{"n": 2}]
        assert found.query("SELECT connection FROM connections") == [{"connection": 1}]
        assert found.metric("coverage")[0]["requests"] == 4
        assert found.query("SELECT count(*) AS n FROM captures") == [{"n": 1}]


def test_the_time_range_is_that_of_the_captures_narrowed(tmp_path: Path) -> None:
    files = {"captures": [capture(), capture(file=1, first_time_ns=None, last_time_ns=None)]}
    with dataset(tmp_path, files) as found:
        assert found.query("SELECT * FROM time_range") == [
            {
                "first_time_ns": START_NS,
                "last_time_ns": START_NS + 10 * made_rows.SECOND_NS,
                "captured_ns": 10 * made_rows.SECOND_NS,
            }
        ]
    with dataset(tmp_path, files, filters=Filters(from_ns=START_NS + 7, to_ns=START_NS * 2)) as found:
        assert found.query("SELECT first_time_ns - ? AS early FROM time_range", [START_NS]) == [{"early": 7}]


def test_views_see_those_before_them_and_missing_tables_are_empty(tmp_path: Path) -> None:
    raw = made_rows.write(tmp_path, {"exchanges": [exchange(1), exchange(2)]})["exchanges"]
    views = {
        "raw": raw,
        "exchanges": "SELECT * FROM raw WHERE exchange = 2",
        "later": "SELECT exchange FROM all_exchanges",
    }
    with Dataset(views) as found:
        assert found.query("SELECT * FROM later") == [{"exchange": 2}]
        for table, columns in TABLES.items():
            empty = found.arrow(f"SELECT * FROM {table} LIMIT 0")
            assert empty.schema.names == [column.name for column in columns]
            assert [str(kind) for kind in empty.schema.types] == [column.type for column in columns]


def test_batches_hold_every_row(tmp_path: Path) -> None:
    with dataset(tmp_path, {"exchanges": [exchange(number) for number in range(5_000)]}) as found:
        batches = list(found.batches("SELECT exchange FROM exchanges ORDER BY 1", rows=2_048))
        assert [value for batch in batches for value in batch.column(0).to_pylist()] == list(range(5_000))
        assert len(batches) > 1


def test_leaving_cleans_up_once_even_when_a_view_cannot_be_made(tmp_path: Path) -> None:
    calls: list[str] = []
    with Dataset({}, cleanup=lambda: calls.append("done"), temp_directory=tmp_path) as found:
        found.close()
    assert calls == ["done"]
    nonsense = {"exchanges": "SELECT nonsense"}
    with Dataset(nonsense, cleanup=lambda: calls.append("failed"), temp_directory=tmp_path) as found:
        for _ in range(2):
            with pytest.raises(DatasetError, match="nonsense"):
                found.query("SELECT * FROM exchanges")
        assert found.query("SELECT count(*) AS n FROM errors") == [{"n": 0}]
    assert calls == ["done", "failed"]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_does_not_fit_memory_goes_to_the_temporary_directory_and_goes_away(tmp_path: Path) -> None:
    with Dataset({}, memory_bytes=40_000_000, threads=1, temp_directory=tmp_path) as found:
        numbered = "SELECT row_number() OVER (ORDER BY hash(range), range) AS n FROM range(3000000)"
        assert found.query(f"SELECT max(n) AS n FROM ({numbered})") == [{"n": 3_000_000}]
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sql", ["SELECT", "SELECT nothing FROM exchanges", "SELECT 1/0::VARCHAR::INT[]"])
def test_wrong_sql_is_a_message(sql: str) -> None:
    with Dataset({}) as found, pytest.raises(DatasetError, match="Error"):
        found.query(sql)


def test_an_exported_directory_is_a_dataset(tmp_path: Path) -> None:
    directory = tmp_path / "it's [1]*?"
    made_rows.write(directory, {"captures": [capture()]})
    parts = directory / "exchanges"
    parts.mkdir()
    for number in range(3):
        rows = pa.Table.from_pylist([{"exchange": number, "latency_ns": 5}])
        pq.write_table(rows, parts / f"part-{number}.parquet")
    assert is_dataset(directory)
    assert not is_dataset(tmp_path)
    (directory / "manifest.json").write_text(json.dumps({"format": "parquet"}))
    with open_dataset(directory) as found:
        rows = found.query("SELECT exchange, client_id FROM exchanges ORDER BY 1")
        assert rows == [{"exchange": number, "client_id": None} for number in range(3)]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no tables"),
        ({"manifest.json": "{"}, "not a manifest"),
        ({"manifest.json": '["format"]'}, "not a manifest"),
        ({"manifest.json": '{"format": "csv"}'}, "exported as csv"),
        ({"exchanges.parquet": "PAR1 not really"}, "not a Parquet file"),
    ],
)
def test_a_directory_that_is_no_dataset_is_one_line(tmp_path: Path, files: dict[str, str], words: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=words) as caught:
        open_dataset(tmp_path)
    assert "\n" not in str(caught.value)


def test_paths_are_no_globs(tmp_path: Path) -> None:
    made_rows.write(tmp_path / "a", {"exchanges": [exchange(1)]})
    with (
        Dataset({"exchanges": parquet([tmp_path / "*" / "exchanges.parquet"])}) as found,
        pytest.raises(Exception, match="No files found"),
    ):
        found.query("SELECT * FROM exchanges")
