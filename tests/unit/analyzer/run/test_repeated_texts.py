"""Texts as numbers: whether a column is of an ENUM type or of texts, every answer is the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.base.wait_kinds import KINDS
from analyzer.ingest import raw_tables
from analyzer.messages import exchange_text
from analyzer.query import dataset as dataset_module
from analyzer.query import metrics, resolve
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import export
from analyzer.query.run_findings import find
from analyzer.report.terminal import AHEAD
from analyzer.run import local, raw_views, repeated_texts, strategy

SAMPLE = next(path for path in SAMPLES.glob("*.pcap*") if path.name.startswith("groups_classic"))
# Texts in an order of their own, with what ends a literal or a string elsewhere.
ODD = ["", "A", "a", "it's", 'say "so"', "x\x00y", "Ä", "\U0001f600"]


@pytest.fixture
def opened_as_large(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(strategy, "is_small", lambda _: False)
    monkeypatch.setattr(raw_views, "is_small", lambda *_: False)
    return lambda: local.open_dataset([str(SAMPLE)], Options(seldom=False))


def in_sql(text: str) -> str:
    return " || ".join(f"chr({ord(each)})" for each in text) or "''"


def answers(found: Dataset) -> list[object]:
    asked = [found.metric(name) for name in AHEAD if name in metrics.names()]
    return [
        find(found),
        *asked,
        found.query("SELECT topic, min(partition) AS p FROM entries GROUP BY topic ORDER BY topic"),
    ]


def kind_of(found: Dataset, column: str, table: str) -> str:
    return str(found.query(f"SELECT DISTINCT typeof({column}) AS kind FROM {table}")[0]["kind"])


@pytest.mark.slow
def test_answers_are_those_of_texts(opened_as_large: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened_as_large() as found:
        for column, table in (
            ("client_id", "exchanges"),
            ("kind", "exchanges"),
            ("role", "exchanges"),
            ("broker_address", "exchanges"),
            ("kind", "kinds"),
            ("topic", "entries"),
        ):
            assert kind_of(found, column, table).startswith("ENUM("), column
        told = answers(found)
    monkeypatch.setattr(dataset_module, "MOST_TEXTS", 0)
    with opened_as_large() as found:
        assert kind_of(found, "client_id", "exchanges") == "VARCHAR"
        assert answers(found) == told


@pytest.mark.slow
@pytest.mark.usefixtures("opened_as_large")
def test_files_written_of_numbers_are_those_written_of_texts(tmp_path: Path) -> None:
    with local.open_dataset([str(SAMPLE)], Options(numbered=True)) as found:
        for column, table in (
            ("client_id", "exchanges"),
            ("kind", "exchanges"),
            ("broker_address", "connections"),
            ("topic", "entries"),
            ("side", "batches"),
        ):
            assert kind_of(found, column, table).startswith("ENUM("), column
        export(found, tmp_path / "numbers", "parquet")
    with local.open_dataset([str(SAMPLE)], Options()) as found:
        assert kind_of(found, "client_id", "exchanges") == "VARCHAR"
        export(found, tmp_path / "texts", "parquet")
    for table in TABLES:
        numbers, texts = (pq.read_table(tmp_path / form / table) for form in ("numbers", "texts"))
        assert numbers.schema == texts.schema, table
        assert Counter(map(str, numbers.to_pylist())) == Counter(map(str, texts.to_pylist())), table


def test_tables_that_are_not_held_have_texts() -> None:
    with local.open_dataset([str(SAMPLE)], Options()) as found:
        assert kind_of(found, "client_id", "exchanges") == "VARCHAR"


def test_a_type_takes_any_text_and_keeps_the_order_of_texts() -> None:
    texts = f"SELECT unnest([{', '.join(map(in_sql, ODD))}]) AS text"
    view = f"SELECT CAST(text AS odd) AS word, text FROM ({texts})"
    with Dataset({"found": view}, types={"odd": f"{texts} UNION ALL SELECT NULL"}) as found:
        rows = found.query("SELECT word, text, typeof(word) AS kind FROM found ORDER BY word")
        assert [row["word"] for row in rows] == [row["text"] for row in rows] == sorted(ODD, key=str.encode)
        assert rows[0]["kind"].startswith("ENUM(")


def test_a_capture_without_texts() -> None:
    views = {"found": "SELECT CAST(NULL AS nothing) AS word"}
    with Dataset(views, types={"nothing": "SELECT 'x' AS text WHERE false"}) as found:
        assert found.query("SELECT word FROM found") == [{"word": None}]


def test_every_word_that_the_views_say_is_known() -> None:
    folder = Path(resolve.__file__).parent

    def said(name: str) -> set[str]:
        return set(re.findall(r"(?:THEN|ELSE) '(\w+)'", (folder / f"{name}.sql").read_text(encoding="utf-8")))

    assert said("connection_context") == set(repeated_texts.ROLES)
    assert said("fetch_states") <= set(KINDS)
    assert said("exchanges") <= {*KINDS, *raw_tables.STATUSES, *exchange_text._EVIDENCE}
