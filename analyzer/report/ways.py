"""Ways between clients and brokers that stand out: lines that were dead, links that are full, windows, loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.query.run_findings import in_brackets
from analyzer.report import text_tables
from analyzer.report.facts import Facts
from analyzer.report.format import bits_per_second, count, duration, safe, share, size, things
from analyzer.report.text_tables import Column, Row

COLUMNS = (Column("from", least=14), Column("to", least=14), Column("what stands out", least=40))


def ways(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per way and what it is told for; a dash stands for several clients or brokers."""
    rows = facts.rows("ways_of_note")
    if not rows:
        return []
    table = [Row([safe(row["client_address"]), _broker(row), _WORDS[row["what"]](row)]) for row in rows[:limit]]
    lines = [text_tables.heading("Ways that stand out, by what TCP tells", width)]
    lines += text_tables.table(COLUMNS, table, width)
    return lines + text_tables.more(len(rows) - len(table), facts.ask("kanalyze connections --limit 0"), width)


def _broker(row: dict[str, Any]) -> str:
    """With its port, but where the way is that of all ports."""
    if row["broker"] is None or row["what"] == "loss":
        return safe(row["broker"])
    return safe(in_brackets(row["broker"]))


def _dead(row: dict[str, Any]) -> str:
    least = f"{duration(row['least_ns'])} to " if row["least_ns"] is not None else "at most "
    text = f"no packet got through for {least}{duration(row['waited_ns'])}, {things(row['times'], 'time')}"
    others = row["others"]
    return text + (f"; {things(others, 'other host was', 'other hosts were')} answered" if others else "")


def _full(row: dict[str, Any]) -> str:
    text = f"link {safe(row['place'])} full {row['part']}"
    if row["share"] is not None:
        return (
            f"{text}: half of the packets queued for {duration(row['queued_ns'])} and more, {share(row['share'])} lost"
        )
    text += f": {bits_per_second(row['bits_per_s'])} for {duration(row['waited_ns'])}, by {safe(row['who'])}"
    text += f" and {things(row['others'], 'other client')}" if row["others"] else ""
    return text + (f"; queued for up to {duration(row['queued_ns'])}" if row["queued_ns"] is not None else "")


def _unscaled(row: dict[str, Any]) -> str:
    text = f"no window scaling: at most {size(row['bytes'])} in flight"
    if row["waited_ns"] is not None:
        text += f", {row['part']} waited {duration(row['waited_ns'])} for that window"
    if row["times"] is not None:
        text += f", {things(row['times'], 'message')} of 200 kB and more took a round trip per 64 kB"
    others = row["others"]
    return text + (f"; {things(others, 'other connection')} to this broker with scaling" if others else "")


def _small_window(row: dict[str, Any]) -> str:
    text = f"small receive buffer: at most {size(row['bytes'])} in flight, RTT {duration(row['rtt_ns'])}"
    return f"{text}; {safe(in_brackets(row['part']))} waited {duration(row['waited_ns'])} for room"


def _held(row: dict[str, Any]) -> str:
    return f"{things(row['times'], 'piece')} of messages of {row['part']} waited 40 ms each for a delayed ACK"


def _loss(row: dict[str, Any]) -> str:
    text = (
        f"{share(row['share'])} of packets lost ({count(row['times'])} of {count(row['packets'])}) {safe(row['place'])}"
    )
    text += f", to and from {things(row['others'], 'host')}" if row["others"] else ""
    return text + (f"; {share(row['felt_share'])} of the slowest requests" if row["felt_share"] is not None else "")


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "dead": _dead,
    "full": _full,
    "unscaled": _unscaled,
    "small_window": _small_window,
    "held": _held,
    "loss": _loss,
}
