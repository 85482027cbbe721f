"""What findings explain of the accounts of impact, in words, and the table of what they leave."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from analyzer.query.findings import ACCOUNTS
from analyzer.query.impact_causes import Share
from analyzer.report import text_tables
from analyzer.report.facts import Facts
from analyzer.report.format import NONE, count, duration, safe, things
from analyzer.report.sections.unanswered import STATUS
from analyzer.report.text_tables import Column, Row

# Account -> one of it, several of it.
_UNITS = {
    "data": ("request whose records are gone", "requests whose records are gone"),
    "refused": ("refused request", "refused requests"),
    "unanswered": ("request without a reply", "requests without a reply"),
    "connections": ("connection", "connections"),
    "no progress": ("Fetch that brought nothing", "Fetches that brought nothing"),
    "connecting": (
        "connection that was answered after 500 ms or later",
        "connections that were answered after 500 ms or later",
    ),
    "rebalance": ("wait for other members of 500 ms or longer", "waits for other members of 500 ms or longer"),
    "time": ("request of 500 ms or longer", "requests of 500 ms or longer"),
    "repeated": ("repeated request", "repeated requests"),
}


def sentence_of(share: Share) -> str:
    """12 refused requests (NOT_CONTROLLER) between brokers; also possible: finding 2 (4 of them)"""
    text = things(share.times, *_UNITS[share.account])
    if share.what is not None:
        text += f" ({_what(share)})"
    if share.between_brokers:
        text += " between brokers"
    if share.lost_ns is not None:
        text += f", {duration(share.lost_ns)} in all"
    others = [f"finding {at + 1} ({count(times)} of them)" for at, times in sorted(share.also.items())]
    return f"{text}; also possible: {', '.join(others)}" if others else text


def _what(share: Share) -> str:
    return NONE if share.what is None else safe(STATUS.get(share.what, share.what))


_COLUMNS = (
    Column("account"),
    Column("what", least=12),
    Column("in all", right=True),
    Column("explained", right=True),
    Column("unexplained", right=True),
    Column("time unexplained", right=True, spare=1),
)


def table(facts: Facts, told: Sequence[Share], width: int) -> list[Text]:
    """A line for each account and error or end: how much there is, and how much of it no finding explains."""
    every: dict[tuple[str, bool, str], list[Share]] = {}
    for share in told:
        every.setdefault((share.account, share.between_brokers, _what(share)), []).append(share)
    rows = []
    for (account, between, what), parts in sorted(every.items(), key=lambda each: _order(*each[0])):
        all_times = sum(each.times for each in parts)
        left = next((each for each in parts if each.finding is None), None)
        unexplained = 0 if left is None else left.times
        cells = [
            account + (", between brokers" if between else ""),
            what,
            *map(count, (all_times, all_times - unexplained, unexplained)),
            NONE if left is None else duration(left.lost_ns),
        ]
        rows.append(Row(cells, "" if unexplained else text_tables.DIM))
    lines = [text_tables.heading("Impact that findings explain", width)]
    lines += text_tables.table_of_filled(list(_COLUMNS), rows, width)
    return lines + text_tables.suggestion("Whose it is", facts.ask("kanalyze impact"), width)


def _order(account: str, between: bool, what: str) -> tuple[int, bool, str]:
    return ACCOUNTS.index(account), between, what
