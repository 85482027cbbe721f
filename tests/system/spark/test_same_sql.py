"""Metrics and findings are one SQL for two engines: on Spark every file gives the rows that it gives on DuckDB.

Over the tables of captures, over random rows with nulls everywhere, and over the stories of the rules. PySpark has an
environment of its own (`make test-spark` makes it), so the program in there asks the questions of both engines; a test here is
one table or one file. All files are asked by `make test-all`, else some, and views, that hold each construct of SQL that any holds.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from constructs import asked
from effort import LONG, also_long
from jobs import Program
from same_rows import Answer, difference, in_order

from analyzer.base.tables import TABLES

# The first has rows of each table that any has.
CAPTURES = also_long(("throttle", "transactions"), ("groups_classic", "sweep_43", "versions"))
FILTERED = ("exchanges", "connections", "entries", "errors", "transaction_events")
ASKED = [name.split("/") for name in sorted(asked())]
METRICS = ["/".join(each) for each in ASKED if each[0] != "findings"]
FINDINGS = [name for of, name in ASKED if of == "findings"]
Reports = list[dict[str, Any]]


@pytest.fixture(scope="module")
def reports(program: Program, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reports]:
    """Metric or finding, and its name -> what came of each time it was asked."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "scratch").mkdir()
    answers = folder / "answers.jsonl"
    captures = [str(samples / f"{name}.pcap.zst") for name in CAPTURES]
    done = program.run("both", folder / "scratch", answers, *captures, seconds=1800)
    assert done["code"] == 0, done["err"]
    found = defaultdict(list)
    for report in map(json.loads, answers.read_text().splitlines()):
        kind, name = report["file"].split("/")
        found[f"{kind}/{name}"].append(report)
    return found


def told(reports: Reports) -> list[str]:
    return [
        f"{each['rows']} rows of {each['question']}: {each['difference']}" for each in reports if each["difference"]
    ]


@pytest.mark.parametrize("name", TABLES)
def test_final_table_has_the_same_rows(name: str, reports: dict[str, Reports]) -> None:
    found = reports[f"tables/{name}"]
    assert found
    assert told(found) == []
    assert any(each["rows"] for each in found) or name in EMPTY


@pytest.mark.parametrize("name", FILTERED)
def test_filters_leave_the_same_rows(name: str, reports: dict[str, Reports]) -> None:
    found = [each for each in reports[f"tables/{name}"] if "filtered" in each["question"]]
    assert len(found) == (3 if LONG or name == "exchanges" else 1)
    assert told(found) == []
    assert any(each["rows"] for each in found)


@pytest.mark.parametrize("name", METRICS)
def test_metric_or_view_gives_the_same_rows(name: str, reports: dict[str, Reports]) -> None:
    found = reports[name]
    assert found
    assert told(found) == []
    assert any(each["rows"] for each in found) or name.partition("/")[2] in EMPTY


@pytest.mark.parametrize("name", FINDINGS)
def test_finding_is_the_same(name: str, reports: dict[str, Reports]) -> None:
    found = reports[f"findings/{name}"]
    assert found
    assert told(found) == []
    assert any(each["rows"] for each in found if each["question"].startswith("story"))


# Nobody logs in in the captures, no connection of theirs or of the random rows was refused or is without Kafka, and all their
# packets are TCP. What no release has no broker offers there.
EMPTY = (
    "attempts",
    "batches_sent_again",
    "broker_losses",
    "client_bursts",
    "clients_of_note",
    "clusters_reached",
    "commit_errors",
    "coordinator_mutes",
    "distances",
    "empty_connections",
    "escaped_mutes",
    "escapes",
    "foreign_connections",
    "forwards",
    "links_at_limit",
    "mixed_replies",
    "small_windows",
    "hang_ups",
    "held_back",
    "held_clients",
    "idle_drops",
    "logins",
    "new_topics",
    "offered_beyond",
    "queues",
    "refused",
    "resent",
    "slow_readings",
    "stalls",
    "tls_failures",
    "topics_of_note",
    "unfetched",
    "unreached",
    "unread",
    "unread_silences",
    "unsteady_members",
    "waits_for_followers",
    "ways_of_note",
)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(1, 0.5, "a"), (None, 0.25, "b")], ""),
        ([(None, 0.25, "b"), (1, 0.5 + 1e-13, "a")], ""),
        ([(1, 0.5, "a"), (None, 0.2500001, "b")], "share is"),
        ([(1, 0.5, "a"), (None, 0.25, None)], "name is"),
        ([(1, 0.5, "a"), (0, 0.25, "b")], "count is"),
        ([(1.0, 0.5, "a"), (None, 0.25, "b")], "count is"),
        ([(1, 0.5, "a")], "2 and 1 rows"),
    ],
)
def test_a_difference_is_seen(rows: list[tuple[Any, ...]], words: str) -> None:
    one = Answer(("count", "share", "name"), ("HUGEINT", "DOUBLE", "VARCHAR"), [(1, 0.5, "a"), (None, 0.25, "b")])
    other = Answer(("count", "share", "name"), ("bigint", "double", "string"), rows)
    assert difference(one, other).startswith(words)
    assert bool(difference(one, other)) == bool(words)
    if not words:
        assert in_order(one, other) == (rows[0][0] == 1)


def test_columns_must_be_the_same_and_no_decimals() -> None:
    one = Answer(("a", "b"), ("INTEGER", "DOUBLE"), [])
    assert difference(one, Answer(("b", "a"), ("int", "double"), [])) == "columns ['a', 'b'] and ['b', 'a']"
    assert difference(one, Answer(("a", "b"), ("string", "double"), [])) == "column a is INTEGER and string"
    decimals = Answer(("a", "b"), ("int", "decimal(38,6)"), [])
    assert difference(decimals, decimals) == "column b is decimal(38,6) and decimal(38,6)"
