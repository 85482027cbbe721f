"""Wait kinds as the stage tells them, of exchanges of which little is known."""

from __future__ import annotations

from analyzer.ingest import raw_tables
from dissectors import layout
from dissectors.kafka.columns.wait_kinds import set_wait_kinds
from dissectors.kafka.schema.lookup import api_names
from dissectors.matrix import new_matrix

KEYS = {name: key for key, name in api_names()}


def kind(key: int, **columns: int) -> str | None:
    """The kind of an answered exchange of which nothing is known but these columns (ROW_ names in lower case)."""
    rows = new_matrix(layout.ROW_COLUMNS, 3)
    for column in range(layout.ROW_COLUMNS):
        for row in range(3):
            rows[column, row] = layout.UNKNOWN
    rows[layout.ROW_KEY, 1] = key
    rows[layout.ROW_STATUS, 1] = layout.STATUS_ANSWERED
    for name, value in columns.items():
        rows[getattr(layout, f"ROW_{name.upper()}"), 1] = value
    set_wait_kinds(rows, 1, 2)
    assert rows[layout.ROW_KIND, 0] == rows[layout.ROW_KIND, 2] == layout.UNKNOWN, "rows that were not asked for"
    number = rows[layout.ROW_KIND, 1]
    return None if number == layout.UNKNOWN else raw_tables.WAIT_KINDS[number]
