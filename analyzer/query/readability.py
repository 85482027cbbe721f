"""What of a capture could not be read, for what a person asks: the one place where this is decided.

Silence must never look like all is well, so every verb asks here before it answers. That a capture begins or ends in the middle of
connections is normal, and no reason. That a file ends in the middle of a packet is one: nobody knows how much is missing behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.base.filters import Filters, attempt_condition, exchange_condition
from analyzer.query.left_out import leave_out
from dissectors.problems import KINDS as PROBLEM_KINDS

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

WHOLE, PARTLY, NOTHING = "whole", "partly", "nothing"
# Loss beyond one in so many matters.
LEAST_SHARE = 100
DAMAGED = "capture_damaged"
NOT_KNOWN = "not_known"
# Among what an answer leaves out.
_NAME = "readability"
# What the name of an API begins with whose key no release known here has.
UNKNOWN_KEY = "key "
_OPTIONS = {kind.name: kind.option for kind in PROBLEM_KINDS.values() if kind.option}


class Ask(NamedTuple):
    """What an answer is made from. `sides`: it says nothing without messages of these. `bodies`: it reads more of them than
    headers. `apis`: the APIs whose bodies it reads, None: all. `told_by`: the side whose bodies it reads, None: both. `one`: it is
    about one exchange, so that what else is missing does not matter. `packets`: a log of requests alone answers nothing of it."""

    sides: frozenset[str] = frozenset()
    bodies: bool = True
    apis: frozenset[str] | None = None
    told_by: str | None = None
    one: bool = False
    packets: bool = False


_BOTH, _REQUESTS = frozenset(("requests", "replies")), frozenset(("requests",))
# What tells how long a request waits by design, and whether a reply is expected.
_WAITING = frozenset(("Produce", "Fetch", "ShareFetch", "JoinGroup"))
_DATA = frozenset(
    ("DeleteRecords", "Fetch", "ListOffsets", "Metadata", "OffsetCommit", "Produce", "ShareFetch", "TxnOffsetCommit")
)
_MEMBERS = frozenset(
    (
        "ConsumerGroupHeartbeat",
        "Heartbeat",
        "JoinGroup",
        "LeaveGroup",
        "ShareGroupHeartbeat",
        "StreamsGroupHeartbeat",
        "SyncGroup",
    )
)
_TRANSACTIONS = frozenset(
    (
        "AddOffsetsToTxn",
        "AddPartitionsToTxn",
        "EndTxn",
        "InitProducerId",
        "Produce",
        "TxnOffsetCommit",
        "WriteTxnMarkers",
    )
)
EVERYTHING = "everything"
# Named like the verbs, and like the metrics that `check` reads; all others ask for everything.
ASKS = {
    EVERYTHING: Ask(),
    "brokers": Ask(_REQUESTS),
    "clients": Ask(_REQUESTS),
    "connections": Ask(bodies=False, apis=frozenset(("ApiVersions",)), packets=True),
    "delivery": Ask(_BOTH, apis=_DATA),
    "errors": Ask(_BOTH, told_by="reply"),
    "findings": Ask(_REQUESTS),
    "groups": Ask(_REQUESTS, apis=_DATA | _MEMBERS),
    "impact": Ask(_BOTH, told_by="reply"),
    "latency": Ask(_BOTH, bodies=False, apis=_WAITING),
    "partition": Ask(
        _REQUESTS, apis=_DATA | _MEMBERS | _TRANSACTIONS | {"OffsetFetch", "OffsetForLeaderEpoch"}, packets=True
    ),
    "profile": Ask(_BOTH, bodies=False, apis=_WAITING),
    "readiness": Ask(_REQUESTS, bodies=False, apis=frozenset(("ApiVersions",))),
    "show": Ask(one=True, packets=True),
    "throttle": Ask(_BOTH, told_by="reply"),
    "topics": Ask(_REQUESTS, apis=_DATA),
    "transactions": Ask(_REQUESTS, apis=_TRANSACTIONS),
    "zones": Ask(_REQUESTS, apis=_DATA, packets=True),
    "unanswered": Ask(_BOTH, bodies=False, apis=frozenset(("Produce",)), packets=True),
}
# Kinds of problems that metric `unread_bodies` has rows of.
_UNREAD = {"newer_than_known", "malformed_body", "bytes_left_over"}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something could not be read. `kind`: no_kafka, tls, one_way, loss, dropped, log (there are no packets), cut (a file),
    cut_bodies, newer, malformed, limit, input, no_match, not_known (memory, disk or a bug of ours keeps it away). `numbers`: what a
    sentence about it needs: the columns of the metrics `readability` and `lost_messages`, rows of `unread_bodies`, an option,
    filters; why it is not known."""

    kind: str
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Readability:
    """The verdict on one question: `whole`, `partly`, or `nothing` of what it asks for could be read. A `whole` answer has a reason
    too where bodies that it does not need are of messages that this release does not know."""

    asks: str
    verdict: str
    reasons: tuple[Reason, ...]


def readability(dataset: Dataset, asks: str = EVERYTHING) -> Readability:
    """What of the captures could not be read for a question, a key of ASKS (others ask for everything). Where memory or disk do not
    suffice, or by a bug of ours, that is not known: the dataset notes why, and nothing counts as whole."""
    if _NAME not in dataset.left_out:
        try:
            return _judged(dataset, asks)
        except Exception as error:
            if leave_out(dataset, _NAME, error) is None:
                raise
    return Readability(asks, PARTLY, (Reason(NOT_KNOWN, {"why": dataset.left_out[_NAME]}),))


def _judged(dataset: Dataset, asks: str) -> Readability:
    ask = ASKS.get(asks, ASKS[EVERYTHING])
    if dataset.readability is None:
        dataset.readability = _measured(dataset)
    row = dataset.readability
    if whole := _nothing(dataset, ask, row):
        is_new = row["cut_files"] and all(reason.kind != "cut" for reason in whole)
        return Readability(asks, NOTHING, (*whole, *([Reason("cut", row)] if is_new else [])))
    if ask.one:
        return Readability(asks, WHOLE, ())
    if reasons := tuple(_reasons(dataset, ask, row)):
        return Readability(asks, PARTLY, reasons)
    newer = [each for each in row["unread_bodies"] if each["reason"] == "newer"]
    return Readability(asks, WHOLE, tuple(_unread_reasons(newer)))


def _measured(dataset: Dataset) -> dict[str, Any]:
    """What the metrics tell, and the problems. Messages are counted only where some may be missing: it takes time."""
    kinds = {row["kind"] for row in dataset.query("SELECT kind FROM all_problems GROUP BY kind")}
    options = {_OPTIONS[kind] for kind in kinds if kind in _OPTIONS} | set(dataset.limits)
    row = dataset.metric("readability")[0]
    row |= {"limits": sorted(options), "is_damaged": DAMAGED in kinds}
    if row["cut_files"] and (until := dataset.filters.to_ns) is not None:
        # What is missing comes behind the last packet: where the question ends before that, nothing is missing of it.
        missing = f"cut AND (last_time_ns IS NULL OR last_time_ns < {until})"
        row["cut_files"] = len(dataset.query(f"SELECT file FROM all_captures WHERE {missing}"))
    row["unread_bodies"] = dataset.metric("unread_bodies") if kinds & _UNREAD else []
    row["bodies_by_api"] = _bodies(dataset) if row["unread_bodies"] else {}
    if row["gaps"] or row["cut_bytes"] or options:
        return row | dataset.metric("lost_messages")[0]
    return row | dict.fromkeys(("exchanges", "lost_messages", "bodies", "cut_bodies"), 0)


def _nothing(dataset: Dataset, ask: Ask, row: dict[str, Any]) -> tuple[Reason, ...]:
    """Why nothing can be answered at all; empty where something can."""
    if not row["kafka_connections"] and not dataset.query("SELECT 1 AS one FROM all_exchanges LIMIT 1"):
        return (Reason("tls" if row["tls_connections"] else "no_kafka", row),)
    if row["logs"] and ask.packets:
        return (Reason("log", row),)
    if not matched(dataset):
        return (Reason("no_match", {"filters": dataset.filters}), *_reasons(dataset, ask, row))
    of_side = {"requests": row["replies_only_connections"], "replies": row["requests_only_connections"]}
    if row["asked_connections"] and any(of_side[side] == row["asked_connections"] for side in ask.sides):
        return (Reason("one_way", row),)
    unread = _unread(ask, row)
    if ask.bodies and unread and sum(each["messages"] for each in unread) == _in_all(ask, row):
        return tuple(_unread_reasons(unread))
    return ()


def _reasons(dataset: Dataset, ask: Ask, row: dict[str, Any]) -> list[Reason]:
    found = [Reason("log", row)] if row["logs"] else []
    if row["tls_connections"]:
        found.append(Reason("tls", row))
    if _matters(row["one_way_messages"], row["messages"]):
        found.append(Reason("one_way", row))
    if _matters(row["lost_messages"], row["exchanges"]) or _matters(
        row["lost_bytes"] + row["encrypted_bytes"], row["bytes"]
    ):
        found.append(Reason("loss", row))
    if _matters(row["dropped_packets"], row["packets"] + row["dropped_packets"]):
        found.append(Reason("dropped", row))
    if row["cut_files"]:
        found.append(Reason("cut", row))
    if ask.bodies and _matters(row["cut_bodies"], row["bodies"]):
        found.append(Reason("cut_bodies", row))
    found += _unread_reasons([each for each in _unread(ask, row) if _is_told(each, row)])
    found += [Reason("limit", {"option": option}) for option in row["limits"]]
    if dataset.failed or row["is_damaged"]:
        found.append(Reason("input"))
    return found + _unmatched(dataset)


def _bodies(dataset: Dataset) -> dict[tuple[str | None, str], int]:
    """How many bodies were captured, of what the filters leave: by API and side, as `unread_bodies` has them."""
    rows = dataset.query(
        "SELECT api_name, count(*) FILTER (WHERE request_decoded <> 'none') AS request, "
        "count(*) FILTER (WHERE response_decoded <> 'none') AS reply FROM exchanges GROUP BY api_name"
    )
    return {(each["api_name"], side): each[side] for each in rows for side in ("request", "reply")}


def _reads(ask: Ask, api_name: str | None, side: str) -> bool:
    """Whether an answer reads bodies of an API. One that nobody knows may tell anything."""
    if ask.told_by not in (None, side):
        return False
    is_unknown = api_name is None or api_name.startswith(UNKNOWN_KEY)
    return ask.apis is None or api_name in ask.apis or (ask.bodies and is_unknown)


def _unread(ask: Ask, row: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of `unread_bodies` that matter to a question. Of a newer reply the throttle time comes first, and may be known."""
    knows_throttle = ask is ASKS["throttle"]
    return [
        each
        for each in row["unread_bodies"]
        if _reads(ask, each["api_name"], each["side"])
        and not (knows_throttle and each["throttle_told"] == each["messages"])
    ]


def _in_all(ask: Ask, row: dict[str, Any]) -> int:
    return sum(number for (api_name, side), number in row["bodies_by_api"].items() if _reads(ask, api_name, side))


def _is_told(unread: dict[str, Any], row: dict[str, Any]) -> bool:
    """Damage is told like loss; what is newer is not read of a client at all, however much there is of others."""
    key = unread["api_name"], unread["side"]
    return unread["reason"] == "newer" or _matters(unread["messages"], row["bodies_by_api"][key])


def _unread_reasons(rows: list[dict[str, Any]]) -> list[Reason]:
    reasons = {each["reason"]: [other for other in rows if other["reason"] == each["reason"]] for each in rows}
    return [Reason(reason, {"rows": found}) for reason, found in reasons.items()]


def _matters(part: int, whole: int) -> bool:
    return part * LEAST_SHARE > whole


def has_no_answer(verdict: Readability) -> bool:
    """Whether nothing at all is to be said: without replies what requests alone tell would look like an answer to many questions,
    and so would what a log tells to those about packets."""
    ask = ASKS.get(verdict.asks, ASKS[EVERYTHING])
    return verdict.verdict == NOTHING and ("replies" in ask.sides or verdict.reasons[0].kind == "log")


def matched(dataset: Dataset) -> bool:
    """False when filters leave nothing of what is there."""
    if not dataset.filters:
        return True
    # Connections for attempts to connect that came to nothing; hours first, which are small.
    tables = (*(("latency_counts",) if dataset.hours_answer() else ()), "exchanges", "connections")
    return any(dataset.query(f"SELECT 1 AS one FROM {table} LIMIT 1") for table in tables)


def _unmatched(dataset: Dataset) -> list[Reason]:
    """The patterns that match nothing, of filters that leave something all the same."""
    chosen = dataset.filters
    each = [
        *(Filters(clients=(one,)) for one in chosen.clients),
        *(Filters(brokers=(one,)) for one in chosen.brokers),
        *(Filters(apis=(one,)) for one in chosen.apis),
        *(Filters(topics=(one,)) for one in chosen.topics),
        *(Filters(namespaces=(one,)) for one in chosen.namespaces),
        *(Filters(zones=(one,)) for one in chosen.zones),
    ]
    if len(each) < 2 or not matched(dataset):
        return []
    return [Reason("no_match", {"filters": one}) for one in each if not _matches(dataset, one)]


def _matches(dataset: Dataset, one: Filters) -> bool:
    conditions = {"all_exchanges": exchange_condition(one), "all_connections": attempt_condition(one)}
    return any(dataset.query(f"SELECT 1 AS one FROM {table} WHERE {sql} LIMIT 1") for table, sql in conditions.items())
