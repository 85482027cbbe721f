"""Numbers of captures are computed in 64 bits, and sums of durations that do not fit are null: a law of all SQL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.findings import rules

SMALL = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}
# What is computed in 32 bits all the same: versions of APIs, which have 16, and digits.
FEW = {"offered_beyond", "throttle_over_time"}
# Durations that do not overlap: their sum is no longer than a connection, or the capture.
APART = {"throttled_clients.sql", "full_links.sql"}


def calls(plan: Any) -> Iterator[dict[str, Any]]:
    """The function calls of a plan, as the engine writes it."""
    if isinstance(plan, list):
        for each in plan:
            yield from calls(each)
    elif isinstance(plan, dict):
        if plan.get("expression_class") == "BOUND_FUNCTION":
            yield plan
        yield from calls(list(plan.values()))


def is_small(call: dict[str, Any]) -> bool:
    """A sum, difference or product of fewer than 64 bits, unless it is one of constants."""
    return (
        call["qname"]["path"][-1] in ("+", "-", "*")
        and call["return_type"]["id"] in SMALL
        and any(each["expression_class"] != "BOUND_CONSTANT" for each in call["children"])
    )


@pytest.mark.slow
def test_nothing_is_computed_in_32_bits() -> None:
    """A throttle time in ms by a million, the generation after the last one: 32 bits hold neither, and the engine gives up."""
    questions = {path.stem: metrics.text(path.stem) for path in metrics.FOLDER.glob("*.sql")}
    questions |= {f"finding {rule.name}": rule.sql for rule in rules()}
    found = set()
    with Dataset({}, threads=1) as nothing:
        for name, question in questions.items():
            sql = nothing.settings.folded(question)
            nothing.arrow(f"SELECT * FROM ({sql}\n) AS asked LIMIT 0")  # makes the views
            (row,) = nothing.query("SELECT json_serialize_plan(?, optimize := false) AS plan", [sql])
            plan = json.loads(row["plan"])
            assert not plan["error"], (name, plan)
            if any(map(is_small, calls(plan))):
                found.add(name)
    assert found == FEW


def casts(sql: str) -> Iterator[str]:
    """What is cast, with the type, of each cast that fails where it does not fit."""
    for begin in re.finditer(r"(?<!TRY_)CAST\(", sql):
        depth, end = 1, begin.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        yield sql[begin.end() : end - 1]


def test_sums_of_durations_that_do_not_fit_are_null() -> None:
    """Each may be as long as there is time, and two of them have no sum in 64 bits. A bound of the sum is one of the cast."""
    found = {
        path.name
        for path in metrics.FOLDER.parent.rglob("*.sql")
        for cast in casts(path.read_text())
        if re.match(r"(coalesce\(|greatest\()?sum\([^)]*_ns.*AS BIGINT$", cast, re.DOTALL)
    }
    assert found <= APART


def test_the_laws_find_what_breaks_them() -> None:
    with Dataset({}, threads=1) as nothing:
        sql = "SELECT throttle_time_ms * 1000000 AS ns, 2 * 3 AS six FROM exchanges"
        nothing.arrow(sql)
        (row,) = nothing.query("SELECT json_serialize_plan(?, optimize := false) AS plan", [sql])
    assert [call["return_type"]["id"] for call in calls(json.loads(row["plan"])) if is_small(call)] == ["INTEGER"]
    assert list(casts("TRY_CAST(sum(a_ns) AS BIGINT), CAST(sum((b_ns)) AS BIGINT)")) == ["sum((b_ns)) AS BIGINT"]
