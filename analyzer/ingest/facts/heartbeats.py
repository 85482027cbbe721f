"""Groups whose coordinator assigns: consumer (KIP-848), share (KIP-932) and streams groups (KIP-1071).

Almost everything happens in heartbeats. A heartbeat without news leaves no row: no error, the epoch that the member had, no
assignment, no subscription, no status of a streams group. A ShareFetch leaves rows where records are given again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from analyzer.ingest.facts.fact_kinds import FactKind, Row, SeenExchange, uuid_or_none
from analyzer.ingest.facts.groups import Assigned, Step, listed

# What a status of a streams group means (KIP-1071).
_STATUSES = {
    0: "STALE_TOPOLOGY",
    1: "MISSING_SOURCE_TOPICS",
    2: "INCORRECTLY_PARTITIONED_TOPICS",
    3: "MISSING_INTERNAL_TOPICS",
    4: "SHUTDOWN_APPLICATION",
    5: "ASSIGNMENT_DELAYED",
}
_MOST_RECORDS = (1 << 63) - 1
_NEWS = ("subscribed_topic_names", "subscribed_topic_regex", "topic_partitions", "topology", "active_tasks")


def _heartbeat(group_type: str) -> Callable[[SeenExchange], Iterator[Row]]:
    def read(seen: SeenExchange) -> Iterator[Row]:
        request, reply = seen.fields()
        if request or reply:
            yield from _steps(group_type, request, reply, seen.reply is not None and seen.reply.whole)

    return read


def _steps(group_type: str, request: dict[str, Any], reply: dict[str, Any], whole: bool) -> Iterator[Row]:
    sent, error = request.get("member_epoch"), reply.get("error_code")
    epoch = reply.get("member_epoch") if error == 0 else None
    event = "heartbeat"
    if sent is not None:
        event = "join" if sent == 0 else "leave" if sent < 0 else "heartbeat"
    assignment = reply.get("assignment")
    news = error or assignment is not None or reply.get("active_tasks") is not None
    status = _status(reply)
    news = (
        news or status or (epoch is not None and epoch != sent) or any(request.get(name) is not None for name in _NEWS)
    )
    if event == "heartbeat" and not news:
        return
    group, member = request.get("group_id"), reply.get("member_id") or request.get("member_id") or None
    held = None if error != 0 or assignment is None else list(_partitions(assignment))
    timeout = request.get("rebalance_timeout_ms")
    yield (
        "group_steps",
        Step(
            event,
            group_type,
            group,
            member_id=member,
            instance_id=request.get("instance_id"),
            generation=epoch,
            sent_generation=sent,
            protocol=request.get("server_assignor"),
            topics=_subscription(request),
            assigned_partitions=len(held) if held is not None and whole else None,
            rebalance_timeout_ms=None if timeout == -1 else timeout,
            error_code=error,
            group_status=status,
        ),
    )
    for topic_id, partition in held or ():
        yield "assigned", Assigned(group, group_type, member, epoch, None, topic_id, partition)


def _partitions(assignment: dict[str, Any]) -> Iterator[tuple[str | None, int]]:
    for topic in assignment.get("topic_partitions") or ():
        topic_id = uuid_or_none(topic["topic_id"])
        for partition in topic["partitions"] or ():
            yield topic_id, partition


def _status(reply: dict[str, Any]) -> str | None:
    """All that a reply says of its streams group, in its order; without details, a text that may repeat secret settings."""
    codes = (each["status_code"] for each in reply.get("status") or ())
    return ", ".join(_STATUSES.get(code, f"status {code}") for code in codes) or None


def redeliveries(seen: SeenExchange) -> Iterator[Row]:
    """Records that a ShareFetch got and that were given before, one row a topic and number of deliveries."""
    if seen.request is None or seen.reply is None:
        return
    for topic in seen.reply.get("responses") or ():
        again: Counter[int] = Counter()
        for partition in topic["partitions"] or ():
            for each in partition["acquired_records"] or ():
                if each["delivery_count"] > 1 and 0 <= each["first_offset"] <= each["last_offset"]:
                    again[each["delivery_count"]] += each["last_offset"] - each["first_offset"] + 1
        for deliveries, records in sorted(again.items()):
            yield (
                "group_steps",
                Step(
                    "redelivery",
                    "share",
                    seen.request.get("group_id"),
                    member_id=seen.request.get("member_id") or None,
                    error_code=seen.reply.get("error_code"),
                    topic_id=uuid_or_none(topic["topic_id"]),
                    delivery_count=deliveries,
                    redelivered=min(records, _MOST_RECORDS),
                ),
            )


def _subscription(request: dict[str, Any]) -> str | None:
    """Names; a regular expression is between slashes; a streams group's topics are those its topology reads."""
    topology = request.get("topology")
    if topology is not None:
        return listed({name for each in topology["subtopologies"] or () for name in each["source_topics"] or ()})
    names, expression = listed(request.get("subscribed_topic_names")), request.get("subscribed_topic_regex")
    if expression:
        return f"{names},/{expression}/" if names else f"/{expression}/"
    return names


_MEMBER = "group_id member_id member_epoch"
_REPLY = "error_code member_id member_epoch"
_ASSIGNMENT = "assignment(topic_partitions(topic_id partitions))"

KINDS = (
    FactKind(
        68,
        f"{_MEMBER} instance_id rebalance_timeout_ms subscribed_topic_names subscribed_topic_regex server_assignor "
        "topic_partitions(topic_id)",
        f"{_REPLY} {_ASSIGNMENT}",
        _heartbeat("consumer"),
        repeats=True,
    ),
    FactKind(76, f"{_MEMBER} subscribed_topic_names", f"{_REPLY} {_ASSIGNMENT}", _heartbeat("share"), repeats=True),
    FactKind(
        88,
        f"{_MEMBER} instance_id rebalance_timeout_ms topology(subtopologies(source_topics)) "
        "active_tasks(subtopology_id)",
        f"{_REPLY} status(status_code) active_tasks(subtopology_id)",
        _heartbeat("streams"),
        repeats=True,
    ),
    FactKind(
        78,
        "group_id member_id",
        "error_code responses(topic_id partitions(acquired_records(first_offset last_offset delivery_count)))",
        redeliveries,
    ),
)
