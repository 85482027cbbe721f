"""Final tables are the same rows to Spark and to DuckDB: those of captures, and what filters, one SQL for both engines, leave of
random rows with nulls everywhere.

PySpark has an environment of its own (`make test-spark` makes it), so a program in there reads with both engines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from effort import LONG, also_long
from jobs import Program
from same_rows import Answer, difference

from analyzer.base.tables import TABLES

# The first has rows of each table that any has.
CAPTURES = also_long(("throttle", "transactions"), ("groups_classic", "sweep_43", "versions"))
FILTERED = ("exchanges", "connections", "entries", "errors", "transaction_events")
# Nobody logs in there, no proxy is seen, no broker tells a controller anything new, and all packets are TCP.
EMPTY = ("broker_events", "forwards", "log_requests", "logins", "unread_silences")
Reports = list[dict[str, Any]]


@pytest.fixture(scope="module")
def reports(program: Program, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """What came of each table that was read."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "scratch").mkdir()
    answers = folder / "answers.jsonl"
    captures = [str(samples / f"{name}.pcap.zst") for name in CAPTURES]
    done = program.run("both", folder / "scratch", answers, *captures, seconds=1800)
    assert done["code"] == 0, done["err"]
    return [json.loads(line) for line in answers.read_text().splitlines()]


@pytest.mark.parametrize("name", TABLES)
def test_final_table_has_the_same_rows(name: str, reports: Reports) -> None:
    (found,) = [each for each in reports if each["table"] == name and each["of"] == "captures"]
    assert found["difference"] == ""
    assert found["rows"] or name in EMPTY


@pytest.mark.parametrize("name", FILTERED)
def test_filters_leave_the_same_rows(name: str, reports: Reports) -> None:
    found = [each for each in reports if each["table"] == name and "filtered" in each["of"]]
    assert len(found) == (3 if LONG or name == "exchanges" else 1)
    assert [each["difference"] for each in found] == [""] * len(found)
    assert any(each["rows"] for each in found)


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


def test_columns_must_be_the_same_and_no_decimals() -> None:
    one = Answer(("a", "b"), ("INTEGER", "DOUBLE"), [])
    assert difference(one, Answer(("b", "a"), ("int", "double"), [])) == "columns ['a', 'b'] and ['b', 'a']"
    assert difference(one, Answer(("a", "b"), ("string", "double"), [])) == "column a is INTEGER and string"
    decimals = Answer(("a", "b"), ("int", "decimal(38,6)"), [])
    assert difference(decimals, decimals) == "column b is decimal(38,6) and decimal(38,6)"
