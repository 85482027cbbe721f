"""The kinds of request (column `exchanges.kind`): which waits say something about the broker, and which are by design.

A Fetch that waits for data, a JoinGroup that waits for the other members: their latency is no fault of the broker and
must never be shown as slow. Metrics keep kinds apart; the report shows those of class BROKER first and names the
others for what they are. An API without a kind (null) is of class BROKER.
"""

from __future__ import annotations

from typing import NamedTuple

BROKER = "broker"  # the time until the reply is the broker's (and the network's) own
MIXED = "mixed"  # part of it may be a wait by design: shown with its numbers, called what it is, never slow
WAIT = "wait"  # a wait by design


class Kind(NamedTuple):
    """`words` follow the API's name in a report ("Fetch, behind the end"); `reach` is BROKER, MIXED or WAIT."""

    words: str
    reach: str


KINDS = {
    "produce_acks_0": Kind("acks=0", BROKER),
    "produce_acks_1": Kind("acks=1", BROKER),
    "produce_acks_all": Kind("acks=all", BROKER),
    "produce_acks_unknown": Kind("acks unknown", BROKER),
    "fetch_backlog": Kind("behind the end", BROKER),
    "fetch_tail": Kind("waiting for data", WAIT),
    "fetch_empty": Kind("no data came", WAIT),
    "fetch_now": Kind("empty at once", MIXED),
    "fetch_throttled": Kind("throttled", MIXED),
    "fetch_session": Kind("session opened, closed", MIXED),
    "fetch_redirect": Kind("sent to another replica", MIXED),
    "fetch_error": Kind("with an error", MIXED),
    "fetch_unknown": Kind("may have waited", MIXED),
    "fetch_follower": Kind("by a follower", WAIT),
    "fetch_raft": Kind("of the metadata log", WAIT),
    "join_wait": Kind("waiting for members", WAIT),
    "sync_wait": Kind("waiting for the leader", WAIT),
    "wait": Kind("", WAIT),
    "forwarded": Kind("forwarded", BROKER),
    "sasl_token": Kind("", BROKER),
}


def kind_of(name: str | None) -> Kind:
    """What a kind means. Null is BROKER without words; a name that is not in the list keeps itself as words."""
    if name is None:
        return Kind("", BROKER)
    return KINDS.get(name) or Kind(name.replace("_", " "), MIXED)


def sql() -> str:
    """The SELECT of the view `kinds`, which tells metrics of what class (`reach`) a kind is."""
    rows = ", ".join(f"('{name}', '{kind.reach}')" for name, kind in KINDS.items())
    return f"SELECT * FROM (VALUES {rows}) AS facts(kind, reach)"
