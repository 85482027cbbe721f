"""Who is throttled: by client and API, or by what was asked for; over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from analyzer.base.settings import Settings
from analyzer.report import text_tables
from analyzer.report.causes import COORDINATOR_MUTES, ESCAPES, causes
from analyzer.report.dimension_columns import Cell, key_columns
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import SECOND_NS, count, duration, milliseconds, safe, share, slot_start, things
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze throttle"
NOTHING = "No reply has a throttle time."
DEFAULT = ("client", "principal", "api")
KEY_SPARE = {"user": 3}
NUMBERS = (
    Column("replies", right=True, spare=8),
    Column("throttled", right=True),
    Column("share", right=True, spare=7),
    Column("throttle time", right=True, spare=1),
    Column("longest", right=True, spare=2),
    Column("muted (worst connection)", right=True),
)
EFFECTS = (
    Column("waited", right=True, spare=4),
    Column("paused", right=True, spare=5),
    Column("sent while muted", right=True, spare=6),
    Column("delayed", right=True, spare=7),
)


HELD = (
    Column("client", least=10),
    Column("address", least=9),
    Column("user", least=8, spare=1),
    Column("replies", right=True),
    Column("throttle time", right=True),
    Column("muted", right=True),
    Column("spent waiting", right=True),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client and API, the longest throttled first."""
    rows = facts.rows("throttle")
    if not rows:
        return []
    lines = [text_tables.heading("Throttling", width)]
    lines += _table(key_columns(Settings(), DEFAULT), NUMBERS, rows, facts, width, limit)
    notes = [
        "throttle time: sum of throttle_time_ms in replies, all connections. muted: time during which the broker read nothing "
        "from the client, all APIs."
    ]
    return lines + text_tables.remarks(" ".join([*notes, *_unknown(rows)]), width)


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The same with what the throttle did: requests held, clients that kept silent, clients that did not."""
    if facts.settings.every_ns:
        return _over_time(facts, width, limit)
    rows = facts.rows("throttle")
    if not rows:
        return []
    keys = key_columns(facts.settings, DEFAULT)
    muting = any(row["throttled_ns"] is not None for row in rows)
    delaying = any(row["delayed"] for row in rows)
    shown = [*(EFFECTS[:3] if muting else ()), *(EFFECTS[3:] if delaying else ())]
    lines = [Text(line, style=text_tables.HEADING) for line in text_tables.wrap(_headline(rows), width)]
    if held := _held(facts.rows("held_clients"), width, limit):
        lines += [*held, Text("")]
    lines += _table(keys, (*NUMBERS, *shown), rows, facts, width, limit)
    text = "throttle time: sum of throttle_time_ms in replies; connections are throttled in parallel, so it may exceed"
    lines += text_tables.remarks(f"{text} the elapsed time.", width)
    if muting:
        text = "muted: time during which the broker read nothing from the client's worst connection (all APIs, overlaps counted"
        lines += text_tables.remarks(f"{text} once), and its share of the connection's lifetime.", width)
        text = "waited: time that requests waited for a mute to end. paused: time that the client itself sent nothing"
        lines += text_tables.remarks(f"{text} until it ended. sent while muted: requests sent anyway.", width)
    if delaying:
        text = "delayed: brokers older than 2.0 delay the throttled reply and do not mute: this time is part of the latency."
        lines += text_tables.remarks(text, width)
    for note in _unknown(rows):
        lines += text_tables.remarks(note, width)
    if told := causes(facts, (COORDINATOR_MUTES, ESCAPES), width, limit, COMMAND):
        lines += [Text(""), *told]
    return lines


def _held(rows: Rows, width: int, limit: int | None) -> list[Text]:
    """Clients that a quota holds up, by their worst connections; then those that send all the same."""
    table = [
        Row(
            [
                safe(row["who"]),
                safe(row["host"]),
                safe(row["principal"]),
                count(row["replies"]),
                duration(row["told_ns"]),
                share(row["muted_share"]),
                duration(row["held_ns"]),
            ]
        )
        for row in rows[:limit]
        if row["replies"] is not None
    ]
    lines = text_tables.table_of_filled(HELD, table, width) if table else []
    for row in rows[:limit]:
        if row["sent_inside"] is not None:
            text = f"{safe(row['who'])} sent {things(row['sent_inside'], 'request')} while it was muted."
            lines += text_tables.remarks(text, width)
    return lines


def _headline(rows: Rows) -> str:
    """Who is worst off, in one sentence."""
    replies = sum(row["throttled"] for row in rows)
    text = f"Throttling: {things(replies, 'throttled reply', 'throttled replies')}"
    if refused := sum(row["refused"] for row in rows):
        text += f", {refused:,} of them refused the request (THROTTLING_QUOTA_EXCEEDED)"
    worst = max((row for row in rows if row["share"] is not None), key=lambda row: row["share"], default=None)
    if worst is not None and worst["client_address"] is not None:
        who = safe(worst["client_id"] or worst["client_address"])
        text += f"; most affected is {who}, muted {share(worst['share'])} of its time"
    return text


def _table(
    keys: Sequence[tuple[Column, Cell]],
    numbers: Sequence[Column],
    rows: Rows,
    facts: Facts,
    width: int,
    limit: int | None,
) -> list[Text]:
    titles = [column.title for column in numbers]
    columns = [
        Column(column.title, column.right, column.least, KEY_SPARE.get(column.title, column.spare))
        for column, _ in keys
    ]
    lines = text_tables.table(
        [*columns, *numbers], [_line([cell for _, cell in keys], titles, row) for row in rows[:limit]], width
    )
    return lines + text_tables.more(len(rows[limit:]) if limit is not None else 0, facts.ask(COMMAND), width)


def _line(keys: Sequence[Cell], titles: Sequence[str], row: dict[str, Any]) -> Row:
    numbers = {
        "replies": count(row["replies"]),
        "throttled": count(row["throttled"]),
        "share": share(row["throttled"] / row["replies"]),
        "throttle time": milliseconds(row["throttle_time_ms"]),
        "longest": milliseconds(row["max_throttle_time_ms"]),
        "muted (worst connection)": _muted(row),
        "waited": duration(row["held_ns"]),
        "paused": duration(row["paused_ns"]),
        "sent while muted": count(row["sent_inside"]),
        "delayed": duration(row["delayed_ns"]),
    }
    return Row([*(cell(row) for cell in keys), *(numbers[title] for title in titles)])


def _muted(row: dict[str, Any]) -> str:
    if row["share"] is not None:
        return f"{duration(row['throttled_ns'])} ({share(row['share'])})"
    return "no (delayed)" if row["delayed"] else "unknown"


def _unknown(rows: Rows) -> list[str]:
    """What is not known, and why."""
    notes = []
    if unknown := sum(row["unknown"] for row in rows):
        notes.append(
            f"{things(unknown, 'reply', 'replies')} without a known throttle time (old version, or not decoded)."
        )
    if unsure := sum(row["unsure"] for row in rows):
        text = f"{things(unsure, 'throttled reply', 'throttled replies')} of brokers whose version is unknown"
        notes.append(f"{text} (no ApiVersions reply was read): 2.0 or newer is assumed.")
    return notes


def _over_time(facts: Facts, width: int, limit: int | None) -> list[Text]:
    rows = facts.rows("throttle_over_time")
    if not rows:
        return []
    every_ns = facts.settings.every_ns or SECOND_NS
    columns = (
        Column("from (UTC)"),
        Column("throttled", right=True),
        Column("throttle time", right=True),
        Column("connections muted", right=True),
        Column("muted (worst connection)", right=True),
    )
    table = [
        Row(
            [
                slot_start(row["slot_ns"], every_ns),
                count(row["throttled"]),
                milliseconds(row["throttle_time_ms"]),
                count(row["connections"]),
                f"{duration(row['muted_ns'])} ({share(row['share'])})",
            ]
        )
        for row in rows[:limit]
    ]
    lines = [text_tables.heading("Throttling over time", width), *text_tables.table(columns, table, width)]
    lines += text_tables.more(len(rows[limit:]) if limit is not None else 0, facts.ask(f"{COMMAND} --limit 0"), width)
    text = "Slots without throttling are left out. Throttle time counts where its reply arrives; the mute begins then."
    return lines + text_tables.remarks(text, width)
