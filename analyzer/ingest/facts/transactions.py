"""Transactions and producer ids: one row for each request about them (KIP-98, KIP-890)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from analyzer.ingest.facts.fact_kinds import FactKind, Message, Row, SeenExchange, known


class Step(NamedTuple):
    """A row of `transaction_steps`."""

    event: str
    transactional_id: str | None
    producer_id: int | None
    producer_epoch: int | None
    new_producer_epoch: int | None = None
    committed: bool | None = None
    group_id: str | None = None
    transaction_timeout_ms: int | None = None
    error_code: int | None = None


def init(seen: SeenExchange) -> Iterator[Row]:
    """The ids that the reply hands out; those of the request when it asks to go on and there is no reply."""
    request, reply = seen.fields()
    if not request and not reply:
        return
    source = reply if known(reply.get("producer_id")) is not None else request
    producer = known(source.get("producer_id"))
    epoch = None if producer is None else known(source.get("producer_epoch"))
    name, timeout = request.get("transactional_id"), request.get("transaction_timeout_ms")
    step = Step("init", name, producer, epoch, transaction_timeout_ms=timeout if name else None)
    yield "transaction_steps", step._replace(error_code=reply.get("error_code"))


def add_partitions(seen: SeenExchange) -> Iterator[Row]:
    """From v4 on brokers send it, for several producers at once."""
    request, reply = seen.fields()
    if seen.version < 4:
        if request or reply:
            old = {name.removeprefix("v3_and_below_"): value for name, value in request.items()}
            error = _first_error(seen.reply, reply.get("results_by_topic_v3_and_below"), "partition_error_code")
            yield "transaction_steps", _named("add_partitions", old, error)
        return
    answers = {each["transactional_id"]: each for each in reply.get("results_by_transaction") or ()}
    for each in request.get("transactions") or ():
        answer = answers.get(each["transactional_id"], {})
        error = reply.get("error_code") or _first_error(seen.reply, answer.get("topic_results"), "partition_error_code")
        yield "transaction_steps", _named("verify" if each["verify_only"] else "add_partitions", each, error)


def add_offsets(seen: SeenExchange) -> Iterator[Row]:
    request, reply = seen.fields()
    if request or reply:
        yield "transaction_steps", _named("add_offsets", request, reply.get("error_code"))


def commit_offsets(seen: SeenExchange) -> Iterator[Row]:
    request, reply = seen.fields()
    if request or reply:
        error = _first_error(seen.reply, reply.get("topics"), "error_code", "partitions")
        yield "transaction_steps", _named("commit_offsets", request, error)


def end(seen: SeenExchange) -> Iterator[Row]:
    request, reply = seen.fields()
    if request or reply:
        step = _named("end", request, reply.get("error_code"))
        epoch = known(reply.get("producer_epoch"))
        yield "transaction_steps", step._replace(committed=request.get("committed"), new_producer_epoch=epoch)


def _named(event: str, request: dict[str, Any], error: int | None) -> Step:
    producer = known(request.get("producer_id"))
    return Step(
        event,
        request.get("transactional_id"),
        producer,
        None if producer is None else known(request.get("producer_epoch")),
        group_id=request.get("group_id"),
        error_code=error,
    )


def _first_error(
    reply: Message | None, topics: list[dict[str, Any]] | None, name: str, partitions: str = "results_by_partition"
) -> int | None:
    """The first code that is not 0. None when no code was read, or none in a reply whose beginning alone is there."""
    codes = [each[name] for topic in topics or () for each in topic[partitions] or ()]
    whole = reply is not None and reply.whole
    return next((code for code in codes if code), 0 if codes and whole else None)


_OLD = "v3_and_below_transactional_id v3_and_below_producer_id v3_and_below_producer_epoch"
_IDS = "transactional_id producer_id producer_epoch"
_RESULTS = "results_by_partition(partition_error_code)"

KINDS = (
    FactKind(
        22,
        "transactional_id transaction_timeout_ms producer_id producer_epoch",
        "error_code producer_id producer_epoch",
        init,
        repeats=True,
    ),
    FactKind(
        24,
        f"transactions({_IDS} verify_only) {_OLD}",
        f"error_code results_by_transaction(transactional_id topic_results({_RESULTS})) "
        f"results_by_topic_v3_and_below({_RESULTS})",
        add_partitions,
        repeats=True,
    ),
    FactKind(25, f"{_IDS} group_id", "error_code", add_offsets, repeats=True),
    FactKind(26, f"{_IDS} committed", "error_code producer_epoch", end, repeats=True),
    FactKind(28, f"{_IDS} group_id", "topics(partitions(error_code))", commit_offsets, repeats=True),
)
