"""Groups of the classic protocol: joins, syncs, leaves. Failed heartbeats and commits need no bodies: SQL makes their rows.

Sources: the protocol guide, KIP-345 (static members), KIP-559 (protocol type and name), KIP-800 (reasons).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from analyzer.ingest.facts.fact_kinds import FactKind, Row, SeenExchange, known
from dissectors.kafka.columns.field_reader import Reader, embedded_reader, wanted_fields

CLASSIC = "classic"
# Groups whose protocol type is remembered; with more, all are forgotten and learned again.
_MOST_GROUPS = 100_000


class Step(NamedTuple):
    """A row of `group_steps`."""

    event: str
    group_type: str
    group_id: str | None
    member_id: str | None = None
    instance_id: str | None = None
    generation: int | None = None
    sent_generation: int | None = None
    leader: str | None = None
    members: int | None = None
    protocol: str | None = None
    reason: str | None = None
    topics: str | None = None
    assigned_partitions: int | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    error_code: int | None = None
    group_status: str | None = None
    topic_id: str | None = None
    delivery_count: int | None = None
    redelivered: int | None = None


class Assigned(NamedTuple):
    """A row of `assigned`."""

    group_id: str | None
    group_type: str
    member_id: str | None
    generation: int | None
    topic: str | None
    topic_id: str | None
    partition: int
    told_by_leader: bool = False


def listed(names: Any) -> str | None:
    """Topic names, comma separated and sorted; None for None."""
    return None if names is None else ",".join(sorted(name for name in names if name))


@cache
def _embedded(name: str, version: int, fields: str) -> Reader | None:
    return embedded_reader(name, version, wanted_fields(fields))


def read_embedded(name: str, data: bytes | None, fields: str, exact: bool) -> dict[str, Any] | None:
    """The struct that begins with its version; None: there is none, or with `exact` something else may be meant."""
    if not data or len(data) < 2:
        return None
    version = int.from_bytes(data[:2], "big", signed=True)
    reader = _embedded(name, version, fields)
    if reader is None or (exact and version > 3):
        return None
    found, whole = reader.read(data, 2, len(data))
    return found if whole and (not exact or reader.stopped_at() == len(data)) else None


_SUBSCRIPTION = "topics user_data owned_partitions(topic partitions) generation_id rack_id"
_ASSIGNMENT = "assigned_partitions(topic partitions) user_data"


class ClassicGroups:
    """Remembers the protocol type of each group, which old SyncGroup messages do not tell."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._changes = 0

    def kinds(self) -> tuple[FactKind, ...]:
        return (
            FactKind(
                11,
                "group_id session_timeout_ms rebalance_timeout_ms member_id group_instance_id protocol_type "
                "protocols(name metadata) reason",
                "error_code generation_id protocol_type protocol_name leader member_id members(member_id)",
                self.join,
                repeats=True,
                changes=self._count_changes,
            ),
            FactKind(
                14,
                "group_id generation_id member_id group_instance_id protocol_type protocol_name "
                "assignments(member_id assignment)",
                "error_code protocol_type protocol_name assignment",
                self.sync,
                repeats=True,
                changes=self._count_changes,
            ),
            FactKind(
                13,
                "group_id member_id members(member_id group_instance_id reason)",
                "error_code members(member_id group_instance_id error_code)",
                self.leave,
                repeats=True,
            ),
        )

    def join(self, seen: SeenExchange) -> Iterator[Row]:
        request, reply = seen.fields()
        if not request and not reply:
            return
        group, kind = request.get("group_id"), reply.get("protocol_type") or request.get("protocol_type")
        if group is not None and kind:
            self._remember(group, kind)
        offered = request.get("protocols") or []
        subscription = None
        if kind == "consumer" and offered:
            subscription = read_embedded("subscription", offered[0]["metadata"], _SUBSCRIPTION, exact=False)
        member = reply.get("member_id") or request.get("member_id") or None
        members = reply.get("members")
        is_leader = bool(members) and seen.reply is not None and seen.reply.whole
        step = Step(
            "join",
            CLASSIC,
            group,
            member_id=member,
            instance_id=request.get("group_instance_id"),
            generation=known(reply.get("generation_id")),
            sent_generation=known((subscription or {}).get("generation_id")),
            leader=reply.get("leader") or None,
            members=len(members or ()) if is_leader else None,
            protocol=reply.get("protocol_name") or (offered[0]["name"] if offered else None),
            reason=request.get("reason") or None,
            topics=None if subscription is None else listed(subscription["topics"]),
            session_timeout_ms=request.get("session_timeout_ms"),
            rebalance_timeout_ms=request.get("rebalance_timeout_ms"),
            error_code=reply.get("error_code"),
        )
        yield "group_steps", step

    def sync(self, seen: SeenExchange) -> Iterator[Row]:
        request, reply = seen.fields()
        if not request and not reply:
            return
        group, member = request.get("group_id"), request.get("member_id") or None
        generation = known(request.get("generation_id"))
        kind = reply.get("protocol_type") or request.get("protocol_type") or self._types.get(group or "")
        failed = reply.get("error_code") != 0
        own = None if failed else partitions_of(reply.get("assignment"), kind)
        step = Step(
            "sync",
            CLASSIC,
            group,
            member_id=member,
            instance_id=request.get("group_instance_id"),
            generation=generation,
            sent_generation=generation,
            protocol=reply.get("protocol_name") or request.get("protocol_name"),
            assigned_partitions=None if own is None else len(own),
            error_code=reply.get("error_code"),
        )
        yield "group_steps", step
        for topic, partition in own or ():
            yield "assigned", Assigned(group, CLASSIC, member, generation, topic, None, partition)
        # What the leader hands out counts once the coordinator has taken it.
        if not failed:
            for each in request.get("assignments") or ():
                for topic, partition in partitions_of(each["assignment"], kind) or ():
                    yield (
                        "assigned",
                        Assigned(group, CLASSIC, each["member_id"], generation, topic, None, partition, True),
                    )

    def leave(self, seen: SeenExchange) -> Iterator[Row]:
        """One row for each member that leaves, or is removed."""
        request, reply = seen.fields()
        if not request and not reply:
            return
        group, error = request.get("group_id"), reply.get("error_code")
        answers = reply.get("members") or []
        leaving = request.get("members")
        if leaving is None:
            leaving = [{"member_id": request.get("member_id")}] if request else answers
        for index, each in enumerate(leaving):
            answer = answers[index] if index < len(answers) else {}
            yield (
                "group_steps",
                Step(
                    "leave",
                    CLASSIC,
                    group,
                    member_id=each.get("member_id") or answer.get("member_id") or None,
                    instance_id=each.get("group_instance_id"),
                    reason=each.get("reason") or None,
                    error_code=error or answer.get("error_code", error),
                ),
            )

    def _remember(self, group: str, kind: str) -> None:
        if self._types.get(group) == kind:
            return
        if len(self._types) >= _MOST_GROUPS and group not in self._types:
            self._types.clear()
        self._types[group] = kind
        self._changes += 1

    def _count_changes(self) -> int:
        return self._changes


def partitions_of(data: bytes | None, kind: str | None) -> list[tuple[str, int]] | None:
    """What a consumer's assignment holds; None for other protocols. Without a protocol type, only what is exactly one.

    No bytes are an assignment of nothing.
    """
    if data == b"" and kind == "consumer":
        return []
    if kind not in (None, "consumer"):
        return None
    found = read_embedded("assignment", data, _ASSIGNMENT, exact=kind is None)
    if found is None:
        return None
    return [
        (each["topic"], number) for each in found["assigned_partitions"] or () for number in each["partitions"] or ()
    ]
