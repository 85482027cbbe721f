"""A DuckDB file holds what the Parquet export, the metrics and the findings hold, and needs nothing beside it."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.base.options import Options
from analyzer.base.tables import TABLES, more_in_sql, sql_columns
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import export as export_parquet
from analyzer.query.run_findings import find
from analyzer.query.table_views import parquet
from analyzer.report.duckdb_file import export
from analyzer.report.finding_rows import write
from analyzer.run.local import open_dataset

NAMES = ("throttle", "groups_classic", "transactions")


class Made:
    """A dataset, its two exports, and the DuckDB file opened by itself."""

    def __init__(self, below: Path, samples: Path) -> None:
        inputs = [shutil.copy(samples / f"{name}.pcap.zst", below) for name in NAMES]
        self.dataset = open_dataset(inputs, Options())
        self.counts = export(self.dataset, str(below / "here.duckdb"))
        export_parquet(self.dataset, below / "parquet", "parquet")
        (below / "moved").mkdir()
        (below / "here.duckdb").rename(below / "moved" / "there.duckdb")
        assert sorted(path.name for path in below.iterdir()) == sorted(
            [*(Path(each).name for each in inputs), "moved", "parquet"]
        )
        self.parquet = below / "parquet"
        self.file = duckdb.connect(str(below / "moved" / "there.duckdb"), read_only=True)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self.file.sql(sql).to_arrow_table().to_pylist()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Iterator[Made]:
    found = Made(tmp_path_factory.mktemp("file"), samples)
    yield found
    found.file.close()
    found.dataset.close()


def test_nothing_in_the_file_names_another_one(made: Made) -> None:
    """Whoever opens it, from whomever it came, opens nothing beside it: it has rows, no views over files, and no macros."""
    assert not made.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    assert not made.rows(
        "SELECT function_name FROM duckdb_functions() WHERE NOT internal AND function_type LIKE '%macro'"
    )
    for row in made.rows("SELECT sql FROM duckdb_tables()"):
        assert not any(word in row["sql"] for word in ("read_parquet", "read_csv", ".parquet", "://")), row["sql"]


def test_a_hundred_small_tables_are_a_small_file(made: Made) -> None:
    (told,) = made.file.execute("SELECT block_size, total_blocks FROM pragma_database_size()").fetchall()
    assert told[0] * told[1] < 12_000_000  # in blocks of the usual size: 26 MB


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_that_of_the_parquet_export_row_for_row(made: Made, table: str) -> None:
    columns = ", ".join(f'"{column.name}"' for column in TABLES[table])
    found = made.file.sql(f"SELECT {columns} FROM {table}").to_arrow_table()
    files = sorted((made.parquet / table).glob("*.parquet"))
    wanted = duckdb.sql(f"SELECT {columns} FROM ({parquet(files)})").to_arrow_table()
    assert found.schema == wanted.schema and found.to_pylist() == wanted.to_pylist()
    assert made.counts.tables[table] == found.num_rows


def test_a_table_has_what_sql_finds_in_it(made: Made) -> None:
    for table in TABLES:
        names = made.file.sql(f"SELECT * FROM {table}").columns
        assert names == [column.name for column in TABLES[table]] + [*sql_columns(table)]
    (row,) = made.rows("SELECT count(*) AS n FROM exchanges WHERE epoch_us(request_time) <> request_time_ns // 1000")
    assert row == {"n": 0}


@pytest.mark.parametrize("name", metrics.names())
def test_a_metric_is_what_the_dataset_answers(made: Made, name: str) -> None:
    wanted = made.dataset.metric(name)
    found = made.rows(f"SELECT * FROM metrics.{name}")
    added = more_in_sql("", found[0]) if found else {}
    assert [{column: value for column, value in row.items() if column not in added} for row in found] == wanted


def test_findings_are_those_of_the_command_line(made: Made) -> None:
    """But for `costs`, which the file does not have."""
    told = io.StringIO()
    write(find(made.dataset), (), "json", told)
    wanted = [{name: value for name, value in row.items() if name != "costs"} for row in json.loads(told.getvalue())]
    assert len(wanted) > 3 and made.counts.findings == len(wanted)
    found = made.rows("SELECT * EXCLUDE (first_time, last_time, advice) FROM findings")
    for row in found:
        row["numbers"] = json.loads(row["numbers"])
        row["connection"] = row["connection"] and f"{row['connection']:016x}"
        for each in row["evidence"]:
            each["exchange"] = f"{each['exchange']:016x}"
    assert found == wanted
    assert all(row["advice"] == row["do"] for row in made.rows('SELECT advice, "do" FROM findings'))


def test_it_needs_nothing_beside_it(made: Made) -> None:
    """Tables, no views over something else."""
    assert made.rows("SELECT * FROM duckdb_views() WHERE NOT internal") == []
    assert made.rows("SELECT count(*) AS n FROM duckdb_tables()") == [{"n": len(TABLES) + len(metrics.names()) + 1}]


def test_every_name_goes_without_quotes(made: Made) -> None:
    columns = made.rows(
        "SELECT schema_name AS s, table_name AS t, column_name AS c FROM duckdb_columns() WHERE NOT internal"
    )
    aliased = {("entries", "offset"), ("problems", "offset"), ("findings", "do")}
    assert len(columns) > 700
    for each in columns:
        if (each["t"], each["c"]) not in aliased:
            made.file.sql(
                f"SELECT {each['c']} FROM {each['s']}.{each['t']} WHERE {each['c']} IS NULL LIMIT 1"
            ).fetchall()


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text("precious")
    with Dataset({}) as dataset, pytest.raises(FileExistsError):
        export(dataset, str(tmp_path / "x.duckdb"))
    assert (tmp_path / "x.duckdb").read_text() == "precious"


def test_an_export_that_fails_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    with Dataset({"problems": "select error('boom') as kind"}) as dataset:
        for _ in range(2):
            with pytest.raises(OSError, match="boom"):
                export(dataset, str(tmp_path / "x.duckdb"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [b'it\'s "new".duckdb', b"caf\xe9.duckdb"])
def test_any_name_will_do(tmp_path: Path, name: bytes) -> None:
    to = os.fsdecode(os.fsencode(tmp_path) + b"/deeper/" + name)
    with Dataset({}) as dataset:
        export(dataset, to)
    assert os.listdir(os.fsencode(tmp_path / "deeper")) == [name]  # noqa: PTH208 (names as bytes)
    shutil.move(to, tmp_path / "plain.duckdb")
    with duckdb.connect(str(tmp_path / "plain.duckdb"), read_only=True) as file:
        assert file.sql("SELECT count(*) FROM exchanges").fetchall() == [(0,)]
