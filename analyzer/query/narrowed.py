"""A dataset over some connections of another one: what it would be of a capture that holds these alone."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.query.dataset import Dataset
from analyzer.query.resolve import OF_CONNECTIONS

_PARTS = "raw_framed_parts"
_CHOSEN = "chosen_parts"
# A capture of these connections begins with the first of their packets, and ends with the last.
_TIMES = (
    "SELECT c.* REPLACE (greatest(c.first_time_ns, t.first_time_ns) AS first_time_ns, least(c.last_time_ns, t.last_time_ns) AS "
    "last_time_ns) FROM ({captures}) AS c CROSS JOIN (SELECT min(first_time_ns) AS first_time_ns, max(last_time_ns) AS "
    "last_time_ns FROM raw_parts) AS t"
)


def can_narrow(dataset: Dataset) -> bool:
    """Whether the dataset was made of a capture, whose raw tables are there; one that was exported was not."""
    return _PARTS in dataset.made_of["views"]


def narrowed(dataset: Dataset, connections: Iterable[int]) -> Dataset:
    """The tables made anew from the raw rows of these connections, with the same filters: roles, brokers and names are those that
    they tell. To be left before `dataset`, whose files it reads."""
    views = dict(dataset.made_of["views"])
    ids = ", ".join(map(str, sorted(connections))) or "NULL"
    chosen = {_CHOSEN: f"SELECT part FROM ({views[_PARTS]}) AS p WHERE p.connection IN ({ids})"}
    rows = {
        name: f"SELECT r.* FROM ({views[name]}) AS r WHERE r.part IN (SELECT part FROM {_CHOSEN})"
        for name in OF_CONNECTIONS & set(views)
    }
    times = {"captures": _TIMES.format(captures=views["captures"])}
    once = (*dataset.made_of["materialized"], _CHOSEN)
    return Dataset(**{**dataset.made_of, "views": {**chosen, **views, **rows, **times}, "materialized": once})
