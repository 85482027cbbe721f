"""Rows that several runs of a dataset have of one thing."""

from __future__ import annotations

from itertools import permutations

import duckdb

from analyzer.query.partitions import MERGED

DAY = ("cluster", "topic_id", "topic", "racks", "whole_racks", "first_time_ns", "last_time_ns")
FIRST = ("c", "t", "orders", "a,b", "b", 0, 10)
WITHOUT_METADATA = ("c", "t", "orders", None, None, 20, 30)
MOVED = ("c", "t", "orders", "b,c", "", 40, 50)


def merged(days: tuple[tuple[object, ...], ...]) -> list[tuple[object, ...]]:
    row = "(?, ?, ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT))"
    rows = f"SELECT * FROM (VALUES {', '.join([row] * len(days))}) AS days({', '.join(DAY)})"
    with duckdb.connect() as database:
        return database.execute(
            MERGED["topic_ids"].format(rows=rows), [value for day in days for value in day]
        ).fetchall()


def test_racks_of_a_topic_are_those_of_the_last_day_that_told_them() -> None:
    """Whatever message saw the topic last: a day whose messages tell no racks takes none away, and both columns are of one day."""
    for days in permutations((FIRST, WITHOUT_METADATA)):
        assert merged(days) == [("c", "t", "orders", "a,b", "b", 0, 30)]
    for days in permutations((FIRST, WITHOUT_METADATA, MOVED)):
        assert merged(days) == [("c", "t", "orders", "b,c", "", 0, 50)]
    for days in permutations((FIRST, MOVED, (*WITHOUT_METADATA[:5], 60, 70))):
        assert merged(days) == [("c", "t", "orders", "b,c", "", 0, 70)]
