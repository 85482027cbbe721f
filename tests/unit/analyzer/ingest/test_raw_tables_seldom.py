"""The report of a large capture leaves out columns and entries that it never reads: none may be missed, or taken for null."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from effort import LONG, one_in
from paths import ROOT, SAMPLES
from rich.console import Console

from analyzer.base import workers
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.query import metrics
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.findings import questions, rules
from analyzer.query.incidents import Finding
from analyzer.query.run_findings import find
from analyzer.report.facts import facts_of_report
from analyzer.report.terminal import AHEAD, print_report
from analyzer.run import local, raw_views, strategy

SAMPLES = sorted((SAMPLES).glob("*.pcap*"))
SOME = SAMPLES[1 :: one_in(8)] if one_in(8) > 1 else SAMPLES
# Its finding reads entries of ListOffsets.
OUT_OF_RANGE = ROOT / "tests" / "data" / "incidents" / "offset_ahead_python.pcap.zst"
# Of topics that are new, whose first errors are normal, entries of CreateTopics tell.
NEW_TOPICS = ROOT / "tests" / "data" / "incidents" / "mirror_maker_start.pcap.zst"
# Column -> a table that leaves it out.
SELDOM = {field.name: table for table, fields in raw_views.WITH_SELDOM.items() for field in fields if field.seldom}


@pytest.fixture(autouse=True)
def no_capture_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "is_small", lambda _: False)
    # Tests before this one left threads behind, beside which a run of kanalyze would begin interpreters: that takes longer.
    monkeypatch.setattr(workers, "has_threads", lambda: False)


def opened(path: Path, seldom: bool, jobs: int = 1) -> Dataset:
    """Of a capture, or of all of a directory."""
    return local.open_dataset([str(path)], Options(seldom=seldom, jobs=jobs))


@cache
def told(path: Path, seldom: bool, jobs: int = 1) -> tuple[str, list[Finding]]:
    """The report, and the findings."""
    sink = io.StringIO()
    with opened(path, seldom, jobs) as dataset:
        with facts_of_report(dataset) as facts:
            print_report(facts, Console(file=sink, width=120))
        return sink.getvalue(), find(dataset)


@pytest.mark.slow
@pytest.mark.parametrize("path", (*SOME, OUT_OF_RANGE, NEW_TOPICS), ids=lambda path: path.name.partition(".")[0])
def test_the_report_and_findings_are_the_same_without_them(path: Path) -> None:
    expected = told(path, True)
    assert told(path, False) == expected
    # Rows that several processes left are put together in one way, whatever they are.
    if path == OUT_OF_RANGE or LONG:
        assert told(path, False, jobs=2) == expected


def scanned(plan: list[dict[str, Any]]) -> Iterator[set[str]]:
    """The names that each scan of a plan reads from files, or has in a condition."""
    for step in plan:
        if "PARQUET" in step["name"]:
            told = step["extra_info"]
            yield set(re.findall(r"\w+", f"{told.get('Projections')} {told.get('Filters')}"))
        yield from scanned(step["children"])


@pytest.mark.slow
@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name.partition(".")[0])
def test_a_large_capture_is_told_as_a_small_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, _ = told(path, False)
    monkeypatch.setattr(strategy, "is_small", lambda _: True)
    assert told.__wrapped__(path, False)[0] == large


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [SAMPLES[0].parent, *(SAMPLES if one_in(2) == 1 else ())], ids=lambda path: path.name.partition(".")[0]
)
def test_no_question_of_the_report_names_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rule is asked, be there reason to or not. (The engine leaves out what no row can come of: so all samples.)"""
    monkeypatch.setattr(raw_views, "is_small", lambda *_: False)
    read: set[str] = set()
    with opened(path, False) as found:
        asked = [*(rule.sql for rule in rules()), *questions(rules(), 0), *questions(rules(), 1)]
        asked += [found.settings.folded(metrics.text(name)) for name in ("coverage", "seen", *AHEAD)]
        for sql in asked:
            found.query(sql)
        made = [known.entry.sql for known in found._catalog._entries.values() if known.entry.materialized]
        for sql in (*asked, *made):
            (row,) = found.query(f"EXPLAIN (FORMAT JSON) {sql}")
            assert "not read for this report" not in row["explain_value"], sql
            for columns in scanned(json.loads(row["explain_value"])):
                read |= columns
    assert {"request_time_ns", "own_kind", "software_name"} <= read, "nothing was looked at"
    others = {field.name for fields in raw_views.WITH_SELDOM.values() for field in fields if not field.seldom}
    assert not read & SELDOM.keys() - others - {"partitions", "topics"}, "one that no other table has"


@pytest.mark.slow
@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name.partition(".")[0])
def test_exchanges_that_are_computed_once_are_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [column.name for column in TABLES["exchanges"]]
    left_out = {field.name for field in raw_views.EXCHANGES if field.seldom} | {*raw_views.UNREAD}
    left_out |= {name for name in columns if name.startswith("log_")}
    names = ", ".join(name for name in columns if name not in left_out)
    question = f"SELECT {names} FROM exchanges ORDER BY exchange"
    with opened(path, True) as found:
        expected = found.query(question)
    monkeypatch.setattr(raw_views, "is_small", lambda *_: False)
    with opened(path, False) as found:
        assert found.query(question) == expected
        held = found.connection().execute(
            "SELECT estimated_size FROM duckdb_tables() WHERE table_name = 'all_exchanges'"
        )
        assert held.fetchall() == [(len(expected),)]
        for name in left_out.intersection(columns):
            with pytest.raises(DatasetError, match=f'column "{name}" not found'):
                found.query(f"SELECT max({name}) FROM exchanges")


def test_exchanges_too_many_for_the_memory_are_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    path = next(path for path in SAMPLES if path.name.startswith("groups_classic"))
    monkeypatch.setattr(raw_views, "is_small", lambda *_: False)
    places = []
    for held_bytes in (1, 1 << 40):
        monkeypatch.setattr(raw_views, "HELD_EXCHANGE_BYTES", held_bytes)
        with opened(path, False) as found:
            rows = found.query("SELECT exchange, api_name, status, latency_ns FROM exchanges ORDER BY exchange")
            held = "SELECT database_name FROM duckdb_tables() WHERE table_name = 'all_exchanges'"
            places.append((rows, found.connection().execute(held).fetchall()))
    assert [place for _, place in places] == [[("memory",)], [("held",)]] and places[0][0] == places[1][0] != []


def test_who_reads_one_is_told() -> None:
    path = next(path for path in SAMPLES if path.name.startswith("groups_classic"))
    with opened(path, False) as found:
        for table in raw_views.WITH_SELDOM:
            assert found.query(f"SELECT count(*) AS n FROM {table}")[0]["n"] > 30
        for name, table in sorted(SELDOM.items()):
            with pytest.raises(DatasetError, match=name):
                found.query(f"SELECT max({name}) FROM {table}")
