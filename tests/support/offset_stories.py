"""Stories of committed offsets and of what consumers are given; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable

from made_rows import SECOND_NS, START_NS, Rows, connection, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def begun_again(
    told: int = -1, began: int | None = 0, committed: int = 500, group: str = "g", deletes: bool = False
) -> Tables:
    """A group that commits this offset; a minute later it is `told` another one, and its client begins to read somewhere else."""
    rows: Rows = []
    entries: Rows = []
    asked = [(8, "OffsetCommit", 0, "g", "request", committed), (9, "OffsetFetch", 60, group, "response", told)]
    for n, (key, name, second, of, side, offset) in enumerate(asked):
        rows.append(exchange(n, at_ns=at(second), api_key=key, api_name=name, api_version=7, group_id=of))
        where = {"exchange": n, "connection": 1, "topic": "t", "partition": 0}
        entries.append(where | {"side": side, "offset": offset, "error_code": None if side == "request" else 0})
    if deletes:
        rows.append(exchange(5, at_ns=at(30), api_key=42, api_name="DeleteGroups", api_version=2, client_id="tool"))
    positions: Rows = []
    if began is not None:
        rows.append(exchange(9, at_ns=at(61), api_key=1, api_name="Fetch", api_version=11, replica_id=-1))
        where = {"exchange": 9, "connection": 1, "topic": "t", "partition": 0, "cluster": "c"}
        positions.append(where | {"time_ns": at(61), "fetch_offset": began, "new_end_offset": 9000})
    return {
        "exchanges": rows,
        "entries": entries,
        "fetch_positions": positions,
        "connections": [connection(1, cluster="c")],
    }


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "offsets_forgotten": (
        begun_again,
        (
            lambda: begun_again(told=500),
            lambda: begun_again(committed=-1),
            lambda: begun_again(began=None),  # a tool that looks at offsets
            lambda: begun_again(began=500),
            lambda: begun_again(group="h"),
        ),
    )
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "offsets_forgotten": ((lambda: begun_again(began=9000), lambda: begun_again(deletes=True)), ())
}
