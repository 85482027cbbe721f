"""The keys with the most requests, for a table over time whose others nobody reads: of a month with 13,000 clients and APIs
each day has as many rows. They are chosen over the whole time, so each that is shown is shown in all slots.
"""

from __future__ import annotations

# Keys of `request_slices` that a person asks for; the slot and whose role it is are none.
KEYS = (
    "api_name", "kind", "api_version", "error_code", "client_id", "client_address", "application", "client_name", "principal",
    "broker_id", "broker_address", "broker_port", "connection", "client_port", "group_id", "topic",
)  # fmt: skip
_SAME = " AND ".join(f"a.{name} IS NOT DISTINCT FROM f.{name}" for name in KEYS)


def of_most(rows: str, most: int, requests: str) -> str:
    """SQL of those of some rows whose keys are among the `most` with the most requests of clients; `requests` is SQL of how many
    are in rows that are grouped. The rows are scanned twice, the first time for their keys alone."""
    keys = ", ".join(KEYS)
    return (
        f"WITH some_rows AS NOT MATERIALIZED ({rows}), frequent AS (SELECT {keys} FROM some_rows WHERE role = 'client' "
        f"GROUP BY {keys} ORDER BY {requests} DESC, {keys} LIMIT {most}) "
        f"SELECT a.* FROM some_rows AS a SEMI JOIN frequent AS f ON {_SAME}"
    )
