"""What brokers tell the controller: in which state they are, and which replicas of their partitions are in sync.

A heartbeat without news leaves no row: no error, a broker in service, all its log directories online.

Sources: KIP-631 (heartbeats), KIP-497 (AlterPartition), KIP-858 (log directories); words for states are those of the
metric `BrokerState`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from analyzer.ingest.facts.fact_kinds import FactKind, Row, SeenExchange, known, uuid_or_none


class Step(NamedTuple):
    """A row of `broker_steps`."""

    event: str
    broker_id: int | None
    broker_state: str | None = None
    offline_log_dirs: int | None = None
    topic: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    isr: str | None = None
    asked_isr: str | None = None
    partition_epoch: int | None = None
    error_code: int | None = None


def heartbeat(seen: SeenExchange) -> Iterator[Row]:
    request, reply = seen.fields()
    error, state, offline = reply.get("error_code"), _state(request, reply), request.get("offline_log_dirs")
    if error or offline or state not in (None, "running"):
        dirs = len(offline) if offline is not None and seen.request is not None and seen.request.whole else None
        yield "broker_steps", Step("heartbeat", known(request.get("broker_id")), state, dirs, error_code=error)


def _state(request: dict[str, Any], reply: dict[str, Any]) -> str | None:
    """None where the reply that would tell is not there, or refuses, or the capture has too little of the request."""
    if reply.get("should_shut_down"):
        return "shutting_down"
    if request.get("want_shut_down"):
        return "pending_controlled_shutdown"
    if request.get("want_fence"):
        return "starting"
    if reply.get("error_code") != 0 or reply.get("is_fenced") is None or request.get("want_shut_down") is None:
        return None
    return "fenced" if reply["is_fenced"] else "running"


def controlled_shutdown(seen: SeenExchange) -> Iterator[Row]:
    """Asked of controllers with ZooKeeper; granted when the broker leads nothing any more."""
    request, reply = seen.fields()
    if not request and not reply:
        return
    whole = seen.reply is not None and seen.reply.whole
    granted = whole and reply["error_code"] == 0 and not reply["remaining_partitions"]
    state = "shutting_down" if granted else "pending_controlled_shutdown"
    broker, error = known(request.get("broker_id")), reply.get("error_code")
    yield "broker_steps", Step("controlled_shutdown", broker, state, error_code=error)


def alter_partition(seen: SeenExchange) -> Iterator[Row]:
    """A row for each partition. Its ISR is that of the reply, if there is one: what ends a reassignment takes brokers out, too."""
    request, reply = seen.fields()
    answers = {
        (topic.get("topic_id"), topic.get("topic_name"), each["partition_index"]): each
        for topic in reply.get("topics") or ()
        for each in topic["partitions"] or ()
    }
    for topic in request.get("topics") or ():
        topic_id, name = topic.get("topic_id"), topic.get("topic_name")
        for each in topic["partitions"] or ():
            answer, asked = answers.get((topic_id, name, each["partition_index"]), {}), _asked(each)
            step = Step(
                "isr",
                known(request.get("broker_id")),
                topic=name,
                topic_id=uuid_or_none(topic_id),
                partition=each["partition_index"],
                isr=_written(answer.get("isr")) if answer.get("error_code") == 0 else asked,
                asked_isr=asked,
                partition_epoch=known(each["partition_epoch"]),
                error_code=reply.get("error_code") or answer.get("error_code"),
            )
            yield "broker_steps", step


def _asked(partition: dict[str, Any]) -> str | None:
    with_epochs = partition.get("new_isr_with_epochs")
    return _written(partition.get("new_isr") if with_epochs is None else [each["broker_id"] for each in with_epochs])


def _written(isr: list[int] | None) -> str | None:
    return None if isr is None else ",".join(map(str, sorted(isr)))


_PARTITIONS = "partitions(partition_index new_isr new_isr_with_epochs(broker_id) partition_epoch)"

KINDS = (
    FactKind(7, "broker_id", "error_code remaining_partitions(partition_index)", controlled_shutdown),
    FactKind(
        56,
        f"broker_id topics(topic_name topic_id {_PARTITIONS})",
        "error_code topics(topic_name topic_id partitions(partition_index error_code isr))",
        alter_partition,
    ),
    FactKind(
        63,
        "broker_id want_fence want_shut_down offline_log_dirs",
        "error_code is_fenced should_shut_down",
        heartbeat,
        repeats=True,
    ),
)
