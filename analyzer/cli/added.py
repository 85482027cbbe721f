"""What verbs say that add captures to a dataset that grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from analyzer.cli.outcome import FINE, UNREADABLE, say

if TYPE_CHECKING:
    from analyzer.run.additions import Added


def say_added(added: Added, to: str) -> int:
    """Says what became of the captures; the exit code."""
    from analyzer.report.format import things

    for line in added.warnings:
        say(line)
    read = things(added.captures, "capture")
    if added.again:
        read += f" ({added.again:,} of them again)"
    known = f"; {things(added.known, 'capture')} had been read before" if added.known else ""
    say(f"{to}: {read} added{known}" + (f"; {counted(added.rows)}" if added.captures else ""))
    return UNREADABLE if added.failed else FINE


def counted(rows: Mapping[str, int]) -> str:
    """The rows of each table: exchanges 1,210, brokers 1. Those without a row are left out."""
    return ", ".join(f"{table} {count:,}" for table, count in rows.items() if count) or "no rows"
