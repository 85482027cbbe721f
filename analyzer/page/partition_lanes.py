"""Which partitions have a lane on the page: those that findings name, and the busiest; a lane is the story of one in slots of time.

A story costs as much as it has events, so partitions whose stories are long are left out, and named with their command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.base.filters import literal
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.query.incidents import Finding

MOST_LANES = 6
BUSIEST = 3
# Rows of entries of all lanes together.
MOST_ENTRIES = 300_000
_BUSIEST = f"""
    SELECT coalesce(topic, topic_id) AS topic, partition
    FROM batches
    WHERE partition IS NOT NULL AND coalesce(topic, topic_id) IS NOT NULL
    GROUP BY ALL
    ORDER BY sum(bytes) DESC, topic, partition
    LIMIT {BUSIEST}
"""


@dataclass(frozen=True, slots=True)
class Lanes:
    """The rows of `partition_lanes`, the partitions that they are of, and those that were left out."""

    rows: list[dict[str, Any]]
    drawn: list[tuple[str, int]]
    left_out: list[tuple[str, int]]


def lanes(dataset: Dataset, found: Sequence[Finding], every_ns: int) -> Lanes:
    """The lanes of a page with these findings. Raises DatasetError."""
    made = Lanes([], [], [])
    room = MOST_ENTRIES
    for each in _wanted(dataset, found):
        topic, number = each
        about = f"(topic = {literal(topic)} OR topic_id = {literal(topic)}) AND partition = {number}"
        (counted,) = dataset.query(f"SELECT count(*) AS n FROM entries WHERE {about}")
        if counted["n"] > room:
            made.left_out.append(each)
            continue
        room -= counted["n"]
        dataset.choose(Settings(every_ns=every_ns, partition=each))
        try:
            rows = dataset.metric("partition_lanes")
        finally:
            dataset.choose(Settings())
        if rows:
            made.rows.extend(rows)
            made.drawn.append(each)
    return made


def _wanted(dataset: Dataset, found: Sequence[Finding]) -> list[tuple[str, int]]:
    named = dict.fromkeys(_named(found))
    busiest = ((row["topic"], row["partition"]) for row in dataset.query(_BUSIEST))
    return list(dict.fromkeys((*named, *busiest)))[:MOST_LANES]


def _named(found: Sequence[Finding]) -> Iterator[tuple[str, int]]:
    for each in found:
        for one in (each, *each.symptoms):
            topic, number = one.row.get("topic"), one.row.get("partition")
            if isinstance(topic, str) and isinstance(number, int):
                yield topic, number
