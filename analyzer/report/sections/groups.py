"""Consumer, share and streams groups: their state, their rebalances and who started them, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.causes import COMMIT_ERRORS, FENCED_INSTANCES, LATE_REJOINS, UNFETCHED, Table, causes
from analyzer.report.cluster_column import with_clusters
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, client, clock, count, duration, lags, milliseconds, safe, things
from analyzer.report.text_tables import Column, Row
from dissectors.kafka.schema.error_codes import error_code

COMMAND = "kanalyze groups"
# What asks for one table alone, by its title.
PART = {
    "Rebalances": " --part rebalances",
    "Members": " --part members",
    "Members that did not stay": " --part unsteady",
    "Timeline (UTC)": " --part timeline",
}
NOTHING = "No group activity in this capture: no join, no commit, no change in a heartbeat."

GROUPS = (
    Column("group", least=14),
    Column("type", spare=2),
    Column("state"),
    Column("members", right=True),
    Column("epoch", right=True, spare=6),
    Column("rebalances", right=True),
    Column("longest", right=True, spare=1),
    Column("not consumed", right=True, spare=3),
    Column("commits", right=True, spare=5),
    Column("failed", least=7, spare=4),
    Column("errors", least=7, spare=2),
    Column("lag", right=True),
    Column("last rebalance", least=20),
)
HELD_UP = Table(
    "held_up",
    "Groups that waited long for a member to join",
    (
        (Column("group", least=10), lambda row: safe(row["group_id"])),
        (Column("for", right=True), lambda row: duration(row["waited_ns"]) + ("+" if row["so_far"] else "")),
        (Column("member waited for", least=12), lambda row: safe(row["stuck"])),
    ),
    "+: until the capture ended.",
)
UNSYNCED = Table(
    "late_assignments",
    "Groups whose leader sends assignments late, or never",
    (
        (Column("group", least=10), lambda row: safe(row["group_id"])),
        (Column("leader", least=12), lambda row: safe(row["leader"])),
        (Column("members", right=True), lambda row: count(row["members"])),
        (Column("waits", right=True), lambda row: count(row["times"])),
        (Column("longest", right=True), lambda row: duration(row["longest_ns"])),
    ),
)
REBALANCES = (
    Column("time"),
    Column("group", least=10, spare=1),
    Column("took", right=True),
    Column("not consumed", right=True, spare=2),
    Column("epoch", right=True, spare=3),
    Column("moved", right=True, spare=4),
    Column("in/out", spare=5),
    Column("cause", least=44),
    Column("exchange", spare=6),
)
MEMBERS = (
    Column("group", least=10),
    Column("client", least=10),
    Column("address", least=9, spare=2),
    Column("member", least=10, spare=3),
    Column("instance id", spare=5),
    Column("epoch", right=True),
    Column("joins", right=True, spare=4),
    Column("partitions", right=True),
    Column("topics", right=True, spare=6),
    Column("last seen"),
)
UNSTEADY = (
    Column("group", least=10),
    Column("client", least=10),
    Column("what happened", least=20),
    Column("times", right=True),
    Column("silent", right=True),
    Column("limit", right=True),
    Column("apart", right=True),
    Column("others", right=True),
    Column("first", spare=2),
    Column("last", spare=1),
)
TIMELINE = (
    Column("time"),
    Column("group", least=8, spare=3),
    Column("event"),
    Column("client", least=10),
    Column("member", least=8, spare=2),
    Column("epoch", right=True, spare=1),
    Column("details", least=24),
    Column("exchange"),
)
NOTES = (
    "longest: longest rebalance, from its cause to the last member's assignment. not consumed: longest time in a rebalance "
    "without a consumer. failed: failed commits. errors: beyond normal operation. lag: of what it fetched / committed, the latter "
    "as kafka-consumer-groups.sh counts."
)
REBALANCE_NOTES = (
    "took: until the last member has its assignment; +: it had not ended. not consumed: time without any "
    "consumer. epoch: the generation that it made. moved: partitions that have another member now. in/out: members that joined "
    "and that left or were lost."
)
UNSTEADY_NOTES = (
    "silent: the longest time without a poll or a heartbeat. limit: the client's max.poll.interval.ms, or its session timeout. "
    "apart: from one time to the next. others: members that had to rebalance each time."
)
WHY = {
    "late_poll": "polled too late",
    "expired": "no heartbeat in time",
    "crashed": "ended without leaving, joined again",
    "passing": "joined and left",
    "returned": "joined anew",
}
# A join that takes so long has waited for others.
LONG_NS = 10_000_000
# What a Java client says each time it joins: it explains nothing.
ROUTINE = ("need to re-join with the given member-id", "group is already rebalancing")


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per group, the most restless first."""
    lines = table(facts, width, limit)
    return lines + text_tables.remarks(NOTES, width) if lines else []


def table(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The same without small print."""
    return _table("Groups", GROUPS, _group, facts.rows("groups"), facts, width, limit)


def rebalances(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per rebalance, in order of time."""
    lines = _table("Rebalances", REBALANCES, _rebalance, facts.rows("rebalances"), facts, width, limit)
    return lines + text_tables.remarks(REBALANCE_NOTES, width) if lines else []


def members(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per member."""
    return _table("Members", MEMBERS, _member, facts.rows("group_members"), facts, width, limit)


def unsteady(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client and group that a group went on without."""
    found = facts.rows("unsteady_members")
    if not found:
        return []
    shown = [_gone(row) for row in found[:limit]]
    lines = _titled("Members that did not stay", UNSTEADY, shown, len(found), found, facts, width)
    return lines + text_tables.remarks(UNSTEADY_NOTES, width)


def timeline(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Every step, with a line where a rebalance begins."""
    rebalances, steps = facts.rows("rebalances"), facts.rows("group_timeline")
    places = [(row["begin_ns"], 0, at) for at, row in enumerate(rebalances)]
    places += [(row["begin_ns"], 1, at) for at, row in enumerate(steps)]
    shown: list[Row] = []
    for _, kind, at in sorted(places):
        if limit is not None and len(shown) >= limit:
            break
        shown += [_step(steps[at])] if kind else _rebalance_lines(rebalances[at], width)
    total = len(steps) + sum(len(_rebalance_lines(row, width)) for row in rebalances)
    return _titled("Timeline (UTC)", TIMELINE, shown[:limit], total, steps, facts, width) if total else []


def failing(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Groups that waited long for a member, members that join late or were thrown out, commits that fail, and partitions that
    nobody fetches."""
    tables = (HELD_UP, LATE_REJOINS, UNSYNCED, FENCED_INSTANCES, COMMIT_ERRORS, UNFETCHED)
    return causes(facts, tables, width, limit, COMMAND)


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """All about the groups that were asked for."""
    lines = render(facts, width, limit)
    for part in (members, unsteady, failing, rebalances, timeline):
        if lines and (more := part(facts, width, limit)):
            lines += [Text(""), *more]
    return lines


def why(row: dict[str, Any]) -> str:
    """Who started a rebalance and why, in words."""
    who = client(row) if row["client_id"] or row["client_address"] else "a member"
    reason = safe(row["reason"]) if row["reason"] and not row["reason"].startswith(ROUTINE) else ""
    unheard = f", no request for {duration(row['unheard_ns'])}" if row["unheard_ns"] is not None else ""
    words = {
        "joined": f"{who} joined",
        "left": f"{who} left",
        "rejoined": f"{who} requested it",
        "silent": f"{who} stopped responding{unheard}",
        "connection_lost": f"{who} lost its connection{unheard}",
    }.get(row["cause"], "cause not in the capture")
    return f"{words}: {reason}" if reason else words


def _table(
    title: str,
    columns: tuple[Column, ...],
    cells: Callable[[dict[str, Any]], Row],
    found: Rows,
    facts: Facts,
    width: int,
    limit: int | None,
) -> list[Text]:
    if not found:
        return []
    columns, shown = with_clusters(columns, [cells(row) for row in found[:limit]], found)
    return _titled(title, columns, shown, len(found), found, facts, width)


def _titled(
    title: str, columns: tuple[Column, ...], shown: list[Row], total: int, found: Rows, facts: Facts, width: int
) -> list[Text]:
    """The first rows of `total`, which are about the groups in `found`."""
    if title != "Groups" and len({safe(row["group_id"]) for row in found}) == 1:
        # The rows of one group need not say which it is.
        at = next(place for place, column in enumerate(columns) if column.title == "group")
        columns = columns[:at] + columns[at + 1 :]
        shown = [Row([*row.cells[:at], *row.cells[at + 1 :]], row.style, row.note) for row in shown]
    return text_tables.titled(
        title, columns, shown, total, facts.ask(f"{COMMAND}{PART.get(title, '')} --limit 0"), width
    )


def _group(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["group_id"]),
            row["group_type"] or NONE,
            row["state"] or NONE,
            count(row["members"]),
            count(row["generation"]),
            count(row["rebalances"]),
            duration(row["longest_rebalance_ns"]),
            duration(row["longest_pause_ns"]),
            count(row["commits"]),
            _with_error(row["failed_commits"], row["last_commit_error"]),
            _with_error(row["failures"], row["last_failure"]),
            lags(row["lag"], row["committed_lag"]),
            _last(row),
        ]
    )


def _last(row: dict[str, Any]) -> str:
    names = ("cause", "client_id", "client_address", "reason", "unheard_ns")
    words = why({name: row[f"last_{name}"] for name in names})
    return f"{clock(row['last_rebalance_ns'])} {words}" if row["last_rebalance_ns"] is not None else NONE


def _with_error(number: int | None, code: int | None) -> str:
    return f"{number:,} {_error(code)}" if number and code is not None else count(number)


def _error(code: int) -> str:
    return error_code(code).name


def _rebalance(row: dict[str, Any]) -> Row:
    took = duration(row["duration_ns"]) + ("" if row["complete"] else "+")
    moves = [f"+{row['joined']}"] if row["joined"] else []
    moves += [f"-{gone}"] if (gone := row["left_members"] + row["lost_members"]) else []
    return Row(
        [
            clock(row["begin_ns"], 3),
            safe(row["group_id"]),
            took,
            duration(row["pause_ns"]),
            _epochs(row),
            count(row["moved_partitions"]),
            " ".join(moves) or NONE,
            why(row),
            NONE if row["example_exchange"] is None else exchange_id(row["example_exchange"]),
        ]
    )


def _epochs(row: dict[str, Any]) -> str:
    first, last = row["first_generation"], row["last_generation"]
    return NONE if last is None else str(last) if first == last else f"{first}-{last}"


def _member(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["group_id"]),
            client(row),
            safe(row["client_address"]),
            _short(row),
            safe(row["instance_id"]),
            count(row["generation"]),
            count(row["joins"]),
            count(row["partitions"]),
            count(row["topics"]),
            f"{clock(row['last_time_ns'], 3)}{', left' if row['gone'] else ''}",
        ]
    )


def _gone(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["group_id"]),
            safe(row["who"]),
            f"{WHY[row['why']]}; {row['back']}" if row["back"] else WHY[row["why"]],
            count(row["times"]),
            duration(row["silent_ns"]),
            milliseconds(row["limit_ms"]),
            duration(row["apart_ns"]),
            count(row["others"]),
            clock(row["first_time_ns"]),
            clock(row["last_time_ns"]),
        ]
    )


def _rebalance_lines(row: dict[str, Any], width: int) -> list[Row]:
    """A rebalance in words, across the columns."""
    took = f"took {duration(row['duration_ns'])}" if row["complete"] else "did not end in the capture"
    pause = f", not consumed for {duration(row['pause_ns'])}" if row["pause_ns"] else ""
    text = f"{safe(row['group_id'])} rebalances, {took}{pause}: {why(row)}"
    time = clock(row["begin_ns"], 3)
    lines = text_tables.wrap(text, width - len(time) - 4)
    return [Row([time if at == 0 else " " * len(time)], style="bold", note=line) for at, line in enumerate(lines)]


def _step(row: dict[str, Any]) -> Row:
    epochs = [epoch for epoch in (row["generation"], row["sent_generation"]) if epoch is not None and epoch >= 0]
    return Row(
        [
            clock(row["begin_ns"], 3),
            safe(row["group_id"]),
            row["event"],
            client(row),
            _short(row),
            str(epochs[0]) if epochs else NONE,
            _what(row),
            exchange_id(row["exchange"]),
        ]
    )


def _what(row: dict[str, Any]) -> str:
    """What a step says, in words, with how long it waited for its reply."""
    parts = []
    if row["error_code"]:
        parts.append(_error(row["error_code"]))
    elif row["error_code"] is None:
        parts.append("no reply")
    if row["is_leader"]:
        parts.append(f"leader of {things(row['members'], 'member')}" if row["members"] else "leader")
    if row["assigned_partitions"] is not None:
        parts.append(f"assigned {things(row['assigned_partitions'], 'partition')}")
    if row["reason"] and not row["reason"].startswith(ROUTINE):
        parts.append(safe(row["reason"]))
    if row["redelivered"]:
        records = f"{things(row['redelivered'], 'record')} of {safe(row['given_topic'])}"
        parts.append(f"{records} given {row['delivery_count']} times")
    if row["group_status"]:
        parts.append(safe(row["group_status"]))
    timed = row["time_ns"] is not None and row["begin_ns"] is not None
    if row["event"] == "join" and timed and row["time_ns"] - row["begin_ns"] >= LONG_NS:
        parts.append(f"waited {duration(row['time_ns'] - row['begin_ns'])}")
    return ", ".join(parts)


def _short(row: dict[str, Any]) -> str:
    """A member id without the client id before it and most of its random part."""
    if not row["member_id"]:
        return NONE
    name = row["member_id"].removeprefix(f"{row['client_id']}-").removeprefix(f"{row['instance_id']}-")
    return safe(name[:8])


PARTS: dict[str, Callable[[Facts, int, int | None], list[Text]]] = {
    "groups": render,
    "rebalances": rebalances,
    "members": members,
    "unsteady": unsteady,
    "timeline": timeline,
}
