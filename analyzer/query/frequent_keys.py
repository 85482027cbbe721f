"""The keys that a table over time shows, where nobody reads all of them: of a month with 13,000 clients and APIs each day has as
many rows. They are the first ones of the table of the whole time, in the order that was asked for, so each that is shown is shown
in all slots.
"""

from __future__ import annotations

# Keys of `request_slices` that a person asks for; the slot and whose role it is are none.
KEYS = (
    "api_name", "kind", "api_version", "error_code", "client_id", "client_address", "application", "client_name", "principal",
    "broker_id", "broker_address", "broker_port", "connection", "client_port", "group_id", "topic",
)  # fmt: skip
_SAME = " AND ".join(f"a.{name} IS NOT DISTINCT FROM f.{name}" for name in KEYS)
# The table that holds them.
CHOSEN = "chosen_keys"


def chosen(latency: str, most: int) -> str:
    """SQL that makes the table: the first `most` keys of the rows of the metric `latency`, which has no slots then. One key may
    have several rows, of what waits by design and of what does not."""
    keys = ", ".join(KEYS)
    return (
        f"CREATE OR REPLACE TABLE {CHOSEN} AS SELECT {keys} FROM (SELECT *, row_number() OVER () AS place FROM ({latency}) AS l) "
        f"AS p GROUP BY {keys} ORDER BY min(place) LIMIT {most}"
    )


def of_most(rows: str) -> str:
    """SQL of those of some rows whose keys are in that table."""
    return f"SELECT a.* FROM ({rows}) AS a SEMI JOIN {CHOSEN} AS f ON {_SAME}"
