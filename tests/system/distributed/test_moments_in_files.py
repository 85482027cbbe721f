"""Moments in files of tables, as TIMESTAMP beside the int64 of nanoseconds: what plain readers make of them, in any time zone."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from kanalyze_process import COMMAND
from parts_of_captures import days, later
from paths import ROOT

from analyzer.base.options import Options
from analyzer.base.tables import TABLES, is_moment
from analyzer.cli.main import main
from analyzer.run import additions
from analyzer.spark.session import java_problem

SCRIPT = Path(__file__).with_name("read_moments.py")
PYTHONS = {"duckdb": Path(sys.executable)}
PYTHONS |= dict.fromkeys(("pandas", "polars"), ROOT / ".venv-notebooks" / "bin" / "python")
PYTHONS["pyspark"] = ROOT / os.environ.get("KANALYZE_SPARK", ".venv-spark") / "bin" / "python"
# Far from UTC, and with a daylight saving time.
ELSEWHERE = {**os.environ, "TZ": "America/St_Johns"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def name_in_files(column: str) -> str:
    return {"begin_ns": "begin_time", "end_ns": "end_time"}.get(column, column.removesuffix("_ns"))


def moments_of(table: str) -> list[str]:
    return [column.name for column in TABLES[table] if is_moment(column.name)]


@pytest.fixture(scope="module")
def grown(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Table -> files of a dataset that grew by two days, made where clocks show another time; only tables with moments."""
    folder = tmp_path_factory.mktemp("moments")
    for number, path in enumerate(days(samples / "throttle.pcap.zst", 2, folder)):
        path.write_bytes(later(path.read_bytes(), number * 86_400))
        command = [*COMMAND, "export", str(path), "--add", "--to", str(folder / "kafka")]
        subprocess.run(command, env=ELSEWHERE, cwd=ROOT, check=True, capture_output=True)
    found = {table: sorted((folder / "kafka" / table).rglob("*.parquet")) for table in TABLES if moments_of(table)}
    return {table: list(map(str, paths)) for table, paths in found.items() if paths}


def told(values: list[int | None]) -> list[int]:
    """As the script says what a column holds."""
    known = sorted(value // 1_000 for value in values if value is not None)
    return [*known, len(values) - len(known)]


@pytest.mark.parametrize("reader", PYTHONS)
def test_a_plain_reader_has_the_moments_to_the_microsecond(grown: dict[str, list[str]], reader: str) -> None:
    if not PYTHONS[reader].exists() or (reader == "pyspark" and java_problem()):
        pytest.skip(f"no environment with {reader}: `make test` makes it")
    asked = {table: [paths, [*map(name_in_files, moments_of(table))]] for table, paths in grown.items()}
    command = [str(PYTHONS[reader]), str(SCRIPT), reader]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, env=ELSEWHERE, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for table, paths in grown.items():
        files = [pq.read_table(path, partitioning=None) for path in paths]
        for column in moments_of(table):
            ns = [value for file in files for value in file[column].to_pylist()]
            assert found[table][name_in_files(column)] == told(ns), (table, column)
    assert len(found) > 10 and any(answer[-1] for columns in found.values() for answer in columns.values())


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_table_on_stdout_has_them_too(
    form: str, samples: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    monkeypatch.setenv("TZ", ELSEWHERE["TZ"])
    assert main(["export", str(samples / "throttle.pcap.zst"), "--table", "exchanges", "--format", form]) == 0
    out = capfdbinary.readouterr().out
    if form == "parquet":
        table = pq.read_table(io.BytesIO(out))
        assert str(table.schema.field("request_time").type) == "timestamp[us, tz=UTC]"
        rows = table.to_pylist()
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(out.decode())))
    else:
        rows = list(map(json.loads, out.decode().splitlines()))
    for row in rows:
        ns = row["response_end_ns"]
        moment = EPOCH + timedelta(microseconds=int(ns) // 1_000) if ns not in (None, "") else None
        shown = row["response_end"]
        if isinstance(shown, str):
            shown = datetime.fromisoformat(shown).replace(tzinfo=UTC) if shown else None
        assert shown == moment
    assert len(rows) > 100


def test_files_are_joined_with_those_of_an_older_kanalyze(samples: Path, tmp_path: Path) -> None:
    """Which have no such columns: who reads moments again makes them of nanoseconds."""
    to = tmp_path / "kafka"
    first, second = days(samples / "throttle.pcap.zst", 2, tmp_path)
    additions.add([str(first)], str(to), Options(jobs=1))
    for path in to.rglob("*.parquet"):
        table = pq.read_table(path, partitioning=None)
        pq.write_table(table.drop_columns([name for name in table.column_names if name.endswith("_time")]), path)
    additions.add([str(second)], str(to), Options(jobs=1))
    (brokers,) = (to / "brokers").rglob("*.parquet")
    for row in pq.read_table(brokers, partitioning=None).to_pylist():
        assert row["first_time"] == EPOCH + timedelta(microseconds=row["first_time_ns"] // 1_000)
