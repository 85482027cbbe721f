"""Tables of the impact that rules without a known cause tell: their views, under the verbs that those findings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzer.query.run_findings import in_brackets
from analyzer.report.causes import Cell, Table
from analyzer.report.format import NONE, count, duration, milliseconds, rate, safe
from analyzer.report.text_tables import Column


def _of(name: str, write: Callable[[Any], str] = safe) -> Cell:
    return lambda row: NONE if row[name] is None else write(row[name])


def _number(head: str, name: str, write: Callable[[Any], str] = count) -> tuple[Column, Cell]:
    return Column(head, right=True), _of(name, write)


_CLIENT = (Column("client", least=10), _of("who"))
_FROM = (Column("from", least=12), _of("client_address"))
_BROKER = (Column("broker", least=14), _of("broker", lambda value: safe(in_brackets(value))))

NEVER_REACHED = Table(
    "never_reached",
    "Addresses that are never reached",
    (
        _BROKER,
        (Column("from", least=12), _of("one_client")),
        _number("addresses", "several"),
        _number("attempts", "times"),
        _number("for", "lasted_ns", duration),
    ),
)
VAIN = Table(
    "vain",
    "Connections that came to nothing",
    (
        _FROM,
        (Column("client", least=8, spare=1), _of("who")),
        _BROKER,
        _number("in vain", "times"),
        _number("of", "connections"),
        _number("ended by the other side", "by_broker"),
    ),
)
SLOW_BEGINNINGS = Table(
    "slow_beginnings",
    "Clients that wait until a connection is ready",
    (
        _CLIENT,
        _FROM,
        _BROKER,
        (Column("for", least=12), _of("what")),
        _number("times", "times"),
        _number("longest", "longest_ns", duration),
        _number("in all", "waited_ns", duration),
        _number("limit", "limit_ns", duration),
    ),
)
LONG_TRANSFERS = Table(
    "long_transfers",
    "Messages that take 500 ms or longer on their way",
    (
        _CLIENT,
        _BROKER,
        _number("slow", "slow"),
        _number("of", "requests"),
        _number("longest", "longest_ns", duration),
        _number("its time", "waited_ns", duration),
    ),
)
MOVED_BACK = Table(
    "moved_back",
    "Partitions that end before where they had ended",
    (
        (Column("partition", least=10), lambda row: f"{safe(row['topic'])}-{row['partition']}"),
        _number("offsets", "lost"),
        _number("end before", "end_before"),
        _number("end now", "end_now"),
        _number("after", "after_ns", duration),
        _BROKER,
    ),
)
GIVEN_UP_TRANSACTIONS = Table(
    "given_up_transactions",
    "Transactions that are given up",
    (
        _CLIENT,
        (Column("transactional id", least=12), _of("transactional_id")),
        _number("given up", "aborted"),
        _number("of", "ended"),
    ),
)
HELD_TRANSACTIONS = Table(
    "held_transactions",
    "Producers that wait for the end of their transaction before",
    (
        _CLIENT,
        (Column("transactional id", least=12), _of("transactional_id")),
        (Column("API", least=8), _of("api_name")),
        _number("refused", "refused"),
        _number("waits", "held"),
        _number("waited", "waited_ns", duration),
        _number("of", "lasted_ns", duration),
    ),
)
REPEATED_REQUESTS = Table(
    "repeated_requests",
    "Requests that are sent again and again",
    (
        _CLIENT,
        (Column("API", least=8), _of("api_name")),
        _number("requests", "requests"),
        _number("rate", "mean_per_s", lambda value: f"{rate(value)}/s"),
        _number("for", "lasted_ns", duration),
    ),
)
HELD_FETCHES = Table(
    "held_fetches",
    "Fetches with records that were held for their whole fetch.max.wait.ms",
    (_CLIENT, _number("held", "times"), _number("of", "fetches"), _number("for", "max_wait_ms", milliseconds)),
)
