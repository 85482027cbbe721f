"""Wait kinds (column `exchanges.kind`): what a request waits for, and whether its latency says something about the broker.

A Fetch waits for data by design, a JoinGroup for the other members: their latency is no fault of the broker and must never
be shown as slow. Metrics keep wait kinds apart; the report shows those of class BROKER first, and the others by name. An API
without a kind (null) is of class BROKER.
"""

from __future__ import annotations

from typing import NamedTuple

BROKER = "broker"  # the broker and the network take all of the time until the reply
MIXED = "mixed"  # part of the time may be a wait by design: shown with its numbers and its name, never as slow
WAIT = "wait"  # a wait by design


class WaitKind(NamedTuple):
    """`words` follow the API's name in a report ("Fetch, data available"); `reach` is BROKER, MIXED or WAIT."""

    words: str
    reach: str


KINDS = {
    "produce_acks_0": WaitKind("acks=0", BROKER),
    "produce_acks_1": WaitKind("acks=1", BROKER),
    "produce_acks_all": WaitKind("acks=all", BROKER),
    "produce_acks_unknown": WaitKind("acks unknown", BROKER),
    "fetch_backlog": WaitKind("data available", BROKER),
    "fetch_tail": WaitKind("waiting for data", WAIT),
    "fetch_empty": WaitKind("no data", WAIT),
    "fetch_now": WaitKind("empty without wait", MIXED),
    "fetch_throttled": WaitKind("throttled", MIXED),
    "fetch_session": WaitKind("session opened/closed", MIXED),
    "fetch_redirect": WaitKind("redirected to another replica", MIXED),
    "fetch_error": WaitKind("with an error", MIXED),
    "fetch_unknown": WaitKind("may have waited", MIXED),
    "fetch_follower": WaitKind("by a follower", WAIT),
    "fetch_raft": WaitKind("of the metadata log", WAIT),
    "join_wait": WaitKind("waiting for members", WAIT),
    "sync_wait": WaitKind("waiting for the leader", WAIT),
    "wait": WaitKind("", WAIT),
    "forwarded": WaitKind("forwarded", BROKER),
    "sasl_token": WaitKind("", BROKER),
}


def kind_of(name: str | None) -> WaitKind:
    """What a wait kind means. Null is BROKER without words; a name that is not in the list is MIXED, with the name as words."""
    if name is None:
        return WaitKind("", BROKER)
    return KINDS.get(name) or WaitKind(name.replace("_", " "), MIXED)


def sql() -> str:
    """The SELECT of the view `kinds`: wait kind -> class (`reach`)."""
    rows = ", ".join(f"('{name}', '{kind.reach}')" for name, kind in KINDS.items())
    return f"SELECT * FROM (VALUES {rows}) AS facts(kind, reach)"
