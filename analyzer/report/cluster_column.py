"""A column that tells clusters apart, in tables where names alone do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.report.format import safe
from analyzer.report.text_tables import Column, Row

# Ids are 22 random characters.
CLUSTER = Column("cluster", least=11)


def with_clusters(
    columns: tuple[Column, ...], rows: list[Row], facts: Sequence[dict[str, Any]]
) -> tuple[tuple[Column, ...], list[Row]]:
    """The table with a cluster in front of each row, when the `facts`, those of these rows first, are of several clusters."""
    if len({fact["cluster"] for fact in facts}) < 2:
        return columns, rows
    told = [
        Row([safe(fact["cluster"]), *row.cells], row.style, row.note) for row, fact in zip(rows, facts, strict=False)
    ]
    return (CLUSTER, *columns), told
