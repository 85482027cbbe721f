"""Errors by code, API, topic and client: failures first, what belongs to normal operation last and dimmed.

What brokers tell each other is a table of its own: no client asked for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from analyzer.base import expected_errors, filters
from analyzer.base.text import exchange_id
from analyzer.query.readability import WHOLE
from analyzer.report import text_tables
from analyzer.report.dimension_columns import Cell, key_columns
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import client, clock, count, duration, safe, things
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze errors"
NOTHING = "No error codes in this capture."
COLUMNS = (
    Column("error", least=26),  # most names whole, behind or below their number
    Column("API", least=13),  # Reassignments, of AlterPartitionReassignments
    Column("about", least=10),
    Column("client", least=10),
    Column("count", right=True),
    Column("first", spare=4),
    Column("last", spare=3),
    Column("remark", spare=1),
)
NUMBERS = (
    Column("count", right=True),
    Column("remark", spare=2),
    Column("lasted", right=True, spare=1),
    Column("burst", right=True, spare=6),
    Column("first", spare=4),
    Column("last", spare=5),
    Column("example", spare=3),
    Column("packet", right=True, spare=7),
)
DEFAULT = ("api", "topic", "client")
# Most names of codes fit in one line: a broken one cannot be searched for.
LONG_NAME = 32
# What brokers tell each other takes no more room than this beside the clients'.
THEIRS = 8
# So many codes of normal operation are named in the report.
NORMAL_CODES = 3
# So many sentences of brokers are told; all are in `errors.error_message`.
MOST_SAID = 5
# Codes of a user who lacks a right.
NOT_ALLOWED = (29, 30, 31, 53, 65)
NORMAL, RETRIABLE, FATAL, UNKNOWN, UNJUDGED = "normal", "retriable", "fatal", "unknown", "not classified"


def is_expected(row: dict[str, Any]) -> bool | None:
    """True when every code of the row belongs to normal operation: by the tables, else by how long it lasted. None when that is
    not known: its packets have no time."""
    if row["expected"] + row["unjudged"] < row["count"]:
        return False
    first_ns, last_ns = row["first_time_ns"], row["last_time_ns"]
    lasted_ns = None if first_ns is None else last_ns - first_ns
    return row["unjudged"] == 0 or expected_errors.is_expected(row["api_name"], row["code"], lasted_ns)


def _failures_first(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: is_expected(row) is True)


def name(row: dict[str, Any]) -> str:
    """1 OFFSET_OUT_OF_RANGE; a code that nobody knows is "999 unknown"."""
    return f"{row['code']} {safe(row['name'] or 'unknown')}"


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per code, API, topic and client that failed; what is normal, and what brokers tell each other, in one line each."""
    rows = facts.rows("errors")
    if not rows:
        return []
    mine = [row for row in rows if not row["between_brokers"]]
    failed = [row for row in mine if not is_expected(row)]
    lines = [text_tables.heading("Errors", width)]
    if failed:
        lines += text_tables.table_of_filled(COLUMNS, [_report_line(row) for row in failed[:limit]], width)
    shown = len(failed) if limit is None else min(limit, len(failed))
    lines += text_tables.more(len(failed) - shown + rows[0]["total_rows"] - len(rows), facts.ask(COMMAND), width)
    least = _least(rows)
    if normal := [row for row in mine if is_expected(row)]:
        lines += text_tables.suggestion(_normal(normal, least), facts.ask(COMMAND), width)
    if theirs := sum(row["count"] for row in rows if row["between_brokers"]):
        text = f"{least}{things(theirs, 'more error code')} between brokers"
        lines += text_tables.suggestion(text, facts.ask(COMMAND), width)
    return lines


def _least(rows: Rows) -> str:
    """What precedes a sum over these rows: there may be more of them than the metric gives."""
    return "at least " if rows and rows[0]["total_rows"] > len(rows) else ""


def _normal(rows: Rows, least: str) -> str:
    """Codes that belong to normal operation, the most frequent first."""
    counts = Counter[str]()
    for row in rows:
        counts[name(row)] += row["count"]
    told = [f"{code}, {least}{things(times, 'time')}" for code, times in counts.most_common(NORMAL_CODES)]
    rest = f"; {things(len(counts) - NORMAL_CODES, 'more code')}" if len(counts) > NORMAL_CODES else ""
    return f"Normal: {'; '.join(told)}{rest}"


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The headline, then failures with an example each, then what is normal, then what brokers tell each other."""
    rows = facts.rows("errors")
    if not rows:
        return []
    mine = [row for row in rows if not row["between_brokers"]]
    theirs = [row for row in rows if row["between_brokers"]]
    keys = key_columns(facts.settings, DEFAULT)
    if not facts.settings.by:
        keys = [
            (Column("about", least=11), _about) if column.title == "topic" else (column, cell) for column, cell in keys
        ]
    headline = _headline(rows, facts.settings.every_ns is not None, facts.readability("errors").verdict == WHOLE)
    if chosen := filters.words(facts.filters):
        headline = headline.replace("Errors:", f"Errors ({safe(chosen)}):", 1)
    lines = [Text(line, style=text_tables.HEADING) for line in text_tables.wrap(headline, width)]
    order = mine if facts.settings.every_ns else _failures_first(mine)
    if order:
        lines += _table(keys, order[:limit], width)
    if not facts.settings.every_ns:
        lines += _said([row for row in mine if not is_expected(row)], width)
    if not facts.settings.by and not facts.settings.every_ns:
        lines += _sums([row for row in mine if not is_expected(row)], facts.rows("failed_requests"), width)
    if theirs:
        shown = theirs[: THEIRS if mine else limit]
        lines += [Text(""), text_tables.heading("Between brokers", width), *_table(keys, shown, width)]
        lines += text_tables.more(len(theirs) - len(shown), facts.ask(f"{COMMAND} --format jsonl"), width)
    hidden = rows[0]["total_rows"] - len(order[:limit]) - len(theirs)
    lines += text_tables.more(hidden, facts.ask(f"{COMMAND} --limit 0"), width)
    failed = [row for row in mine if not is_expected(row)]
    text = "normal: expected in normal operation for as long as it lasted. lasted: from the first to the last one that is not "
    text += "normal. burst: the most errors within one second."
    lines += text_tables.remarks(text, width)
    if row := next(iter(failed or mine or theirs), None):
        at = f"{safe((row['example_path'] or '').rsplit('/', 1)[-1])} packet {row['example_packet']}"
        lines += text_tables.suggestion(f"An example, {at}", facts.show(row["example_exchange"]), width)
    return lines


def _sums(failed: Rows, requests: Rows, width: int) -> list[Text]:
    """How many requests failed where lines have more codes or are several, and who was not allowed: a code of an API once."""
    times_of = {(row["api_name"], row["code"]): row["requests"] for row in requests}
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in failed:
        found.setdefault((name(row), safe(row["api_name"])), []).append(row)
    told = []
    for (code, api), rows in found.items():
        codes = sum(row["unexpected"] for row in rows)
        times = times_of.get((rows[0]["api_name"], rows[0]["code"]), codes)
        if len(rows) > 1 or times < codes:
            clients = len({client(row) for row in rows})
            told.append(f"{api}, {code}: {things(times, 'time')} in all, {things(clients, 'client')}.")
        denied = [row for row in rows if row["code"] in NOT_ALLOWED and row["only_principal"] is not None]
        told += [f"{client(row)} is logged in as {safe(row['only_principal'])}." for row in denied]
    return [line for text in dict.fromkeys(told) for line in text_tables.remarks(text, width)]


def _said(failed: Rows, width: int) -> list[Text]:
    """What brokers say of failures beyond their code."""
    told = [
        f"{safe(row['api_name'])}, {name(row)}: the broker says {safe(row['error_message'])}"
        for row in failed
        if row["error_message"]
    ]
    return [line for text in list(dict.fromkeys(told))[:MOST_SAID] for line in text_tables.remarks(text, width)]


def _headline(rows: Rows, every: bool, is_whole: bool) -> str:
    """What the rows of clients come to, where all replies were read (`is_whole`) or not. Failures come first, so where others
    follow there are no more of them than these, but in slots of time (`every`)."""
    least = _least(rows)
    known = not every and any(row["between_brokers"] or row["count"] == row["expected"] for row in rows)
    least_failures = "" if known else least
    rows = [row for row in rows if not row["between_brokers"]]
    verdicts = [(row, is_expected(row)) for row in rows]
    normal = sum(row["count"] if verdict else row["expected"] for row, verdict in verdicts)
    unjudged = sum(row["count"] - row["expected"] for row, verdict in verdicts if verdict is None)
    failures = sum(row["count"] for row in rows) - normal - unjudged
    fatal = sum(
        row["count"] - row["expected"] for row, verdict in verdicts if row["retriable"] is False and verdict is False
    )
    about = f"; {things(unjudged, 'code')} not classified, because their packets have no timestamp" if unjudged else ""
    if not failures:
        none = "none known" if unjudged or not is_whole else "none"
        others = f"{least}{things(normal, 'code')} of normal operation"
        return f"Errors: {none} beyond normal operation ({others}){about}"
    text = f"Errors: {least_failures}{things(failures, 'failure')}, {least_failures}{fatal:,} of them fatal (not retriable)"
    return text + (f"; {least}{things(normal, 'more code')} of normal operation" if normal else "") + about


def _table(keys: Sequence[tuple[Column, Cell]], rows: Rows, width: int) -> list[Text]:
    columns = [Column("error", least=LONG_NAME), *(column for column, _ in keys), *NUMBERS]
    return text_tables.table(columns, [_line([cell for _, cell in keys], row) for row in rows], width)


def _line(keys: Sequence[Cell], row: dict[str, Any]) -> Row:
    return Row(
        [
            name(row),
            *(cell(row) for cell in keys),
            count(row["count"]),
            _what(row),
            duration(row["lasted_ns"]),
            count(row["burst"]),
            clock(row["first_time_ns"]),
            clock(row["last_time_ns"]),
            exchange_id(row["example_exchange"]),
            str(row["example_packet"]),
        ],
        text_tables.DIM if is_expected(row) else "",
    )


def _what(row: dict[str, Any]) -> str:
    """Of a row that is normal in part: of how many codes the word is true."""
    verdict = is_expected(row)
    if verdict is not False:
        return NORMAL if verdict else UNJUDGED
    word = UNKNOWN if row["retriable"] is None else RETRIABLE if row["retriable"] else FATAL
    return f"{row['unexpected']:,} {word}" if row["expected"] else word


def _about(row: dict[str, Any]) -> str:
    """The topic, else what the reply names, else the group of the request."""
    return safe(next((row[each] for each in ("topic", "entity", "only_group") if row[each] is not None), None))


def _report_line(row: dict[str, Any]) -> Row:
    verdict = is_expected(row)
    remark = (RETRIABLE if row["retriable"] else "") if verdict is False else NORMAL if verdict else UNJUDGED
    return Row(
        [
            name(row),
            safe(row["api_name"]),
            _about(row),
            client(row),
            count(row["count"]),
            clock(row["first_time_ns"]),
            clock(row["last_time_ns"]),
            remark,
        ],
        text_tables.DIM if verdict else "",
    )
