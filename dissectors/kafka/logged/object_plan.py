"""Which values of a logged body become which columns: the steps of one version of a message, made from its schema.

A body in a log is what the broker made of the message: objects with the names of the fields, in JSON as `topicData`, in the text
of older brokers as `topic_data`. Roles of fields say what a value is, as they do for bytes (`dissectors.kafka.columns.program`). A
step finds its value by the number of its name, so brokers may write fields in any order, leave some out and add others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from dissectors import layout
from dissectors.kafka.columns.role_columns import CONTEXT_OF_ROLE, COUNT_OF_ROLE, ENTRY_OF_ROLE, VALUE_OF_ROLE
from dissectors.kafka.logged import object_steps as ops
from dissectors.kafka.logged.log_rows import Names, Plan
from dissectors.kafka.schema import lookup
from dissectors.kafka.schema.fields import Field

BITS = {"bool": 1, "int8": 7, "int16": 15, "uint16": 16, "int32": 31, "uint32": 32, "int64": 63}
MOST_PLANS = 1_024
# Names that brokers wrote before the field had its own.
_OLDER = {
    "committed_offset": ("offset",),
    "fetch_offset": ("offset",),
    "forgotten_topics_data": ("forgetten_topics_data",),
    "generation_id_or_member_epoch": ("generation_id",),
    "index": ("partition",),
    "log_append_time_ms": ("log_append_time",),
    "markers": ("transaction_markers",),
    "max_wait_ms": ("max_wait_time",),
    "name": ("topic",),
    "partition_index": ("partition",),
    "partitions": ("partition_responses",),
    "partition_error_code": ("error_code",),
    "results_by_partition": ("results", "partition_errors"),
    "results_by_topic_v3_and_below": ("results", "errors"),
    "session_epoch": ("epoch",),
    "timeout_ms": ("timeout",),
    "topic_name": ("name",),
    "topics": ("responses",),
    "v3_and_below_producer_epoch": ("producer_epoch",),
    "v3_and_below_producer_id": ("producer_id",),
    "v3_and_below_topics": ("topics",),
    "v3_and_below_transactional_id": ("transactional_id",),
}
_RECORDS = ("records_size_in_bytes", "record_set_size_in_bytes", "record_set", "records")
# Brokers before 2.8 put what is beside the records of a Fetch into a struct of its own.
_HEADER = "partition_header"


class Step(NamedTuple):
    """`kind` says what is done with the value of the first of `names` that is there, `to` and `at` where it goes; `bits`: of whole
    numbers. `inner` has the steps of a struct, or of each element of an array; `counted` is the value that
    counts its elements, -1: none; `touched` are those that count what is inside: of an array without elements they are 0."""

    kind: int
    names: tuple[str, ...] = ()
    to: int = ops.TO_VALUE
    at: int = -1
    bits: int = 0
    inner: Plan | None = None
    counted: int = -1
    touched: tuple[int, ...] = ()


@dataclass(slots=True)
class _Around:
    """What is around a field."""

    in_array: bool = False
    is_row: bool = False
    forgotten: bool = False
    steps: list[Step] = field(default_factory=list)


@lru_cache(MOST_PLANS)
def plan(key: int, version: int, direction: str, snake: bool) -> Plan | None:
    """The plan of a "request" or "response"; `snake`: names as text has them. None: no schema knows the version."""
    api = lookup.api(key)
    if api is None or version not in api.versions:
        return None
    return _Planner(version, snake).message(api.message(direction))


class _Planner:
    def __init__(self, version: int, snake: bool) -> None:
        self.version = version
        self.snake = snake
        self.at_top: set[str] = set()
        self.defaults: list[tuple[int, int]] = []

    def message(self, message: lookup.Message) -> Plan:
        self.at_top = {role for each in self.outside_arrays(message.fields) for role in each.roles}
        around = _Around()
        self.struct(message.fields, around)
        return Plan(*_ordered(around.steps), defaults=tuple(self.defaults))

    def present(self, fields: tuple[Field, ...]) -> Iterator[Field]:
        return (each for each in fields if self.version in each.versions)

    def outside_arrays(self, fields: tuple[Field, ...]) -> Iterator[Field]:
        for each in self.present(fields):
            if not each.is_array:
                yield each
                yield from self.outside_arrays(each.fields)

    def called(self, *names: str) -> tuple[str, ...]:
        """Names as the log has them."""
        return names if self.snake else tuple(camel(each) for each in names)

    def struct(self, fields: tuple[Field, ...], around: _Around) -> None:
        for each in self.present(fields):
            if each.type == "records":
                to = ops.TO_ROW if around.is_row else ops.TO_VALUE
                around.steps.append(Step(ops.STEP_RECORDS, self.called(*_RECORDS), to=to))
                continue
            names = self.called(each.name, *_OLDER.get(each.name, ()))
            around.steps += [step._replace(names=names) for step in self.of_field(each, around)]

    def of_field(self, each: Field, around: _Around) -> Iterator[Step]:
        if each.is_array:
            yield self.array(each, around)
        elif each.type == "struct":
            inner = _Around(around.in_array, around.is_row, around.forgotten)
            self.struct(each.fields, inner)
            yield Step(ops.STEP_STRUCT, inner=Plan(*_ordered(inner.steps)))
        else:
            yield from self.value(each, around)

    def array(self, each: Field, around: _Around) -> Step:
        counted = next((COUNT_OF_ROLE[role] for role in each.roles if role in COUNT_OF_ROLE), -1)
        is_row = "row" in each.roles or (around.forgotten and each.type != "struct")
        inner = _Around(True, is_row, around.forgotten or "forgotten" in each.roles)
        if each.type == "struct":
            self.struct(each.fields, inner)
            if is_row:
                steps = Plan(*_ordered(inner.steps))
                inner.steps.append(Step(ops.STEP_STRUCT, self.called(_HEADER), inner=steps))
        else:
            inner.steps += self.value(each, inner)
        if not inner.steps and not is_row:
            return Step(ops.STEP_COUNT, counted=counted)
        has_records = is_row and any(step.kind == ops.STEP_RECORDS for step in inner.steps)
        made = Plan(*_ordered(inner.steps), is_row, inner.forgotten, each.type != "struct", has_records)
        return Step(ops.STEP_ARRAY, inner=made, counted=counted, touched=tuple(self.touched(each)))

    def touched(self, array: Field) -> Iterator[int]:
        inside = list(self.inside(array))
        if any("partitions" in each.roles for each in inside):
            yield layout.VALUE_PARTITIONS
        if any(each.type == "records" for each in inside):
            yield layout.VALUE_RECORD_BYTES

    def inside(self, around: Field) -> Iterator[Field]:
        for each in self.present(around.fields):
            yield each
            yield from self.inside(each)

    def value(self, each: Field, around: _Around) -> Iterator[Step]:
        if "error" in each.roles:
            yield Step(ops.STEP_ERROR, (), ops.TO_ROW if around.is_row else ops.TO_VALUE, each.number, 15)
            return
        if "secret" in each.roles:
            return
        if "message" in each.roles:
            yield Step(ops.STEP_MESSAGE, at=int("echo" in each.roles))
            return
        kind = {"string": ops.STEP_TEXT, "uuid": ops.STEP_UUID}.get(each.type, ops.STEP_NUMBER)
        bits = BITS.get(each.type, 0)
        for role in each.roles:
            if role in VALUE_OF_ROLE:
                at = VALUE_OF_ROLE[role]
                if not around.in_array:
                    if each.default is not None and kind == ops.STEP_NUMBER:
                        self.defaults.append((at, int(each.default, 0)))
                    yield Step(kind, (), ops.TO_VALUE, at, bits)
                elif role not in self.at_top:
                    yield Step(kind, (), ops.TO_SINGLE, at, bits)
            elif role in CONTEXT_OF_ROLE:
                yield Step(kind, (), ops.TO_SHARED, CONTEXT_OF_ROLE[role], bits)
            elif role in ENTRY_OF_ROLE and around.is_row:
                yield Step(kind, (), ops.TO_ROW, ENTRY_OF_ROLE[role], bits)
            elif role == "entity" and kind == ops.STEP_TEXT:
                yield Step(ops.STEP_ENTITY)


def _ordered(steps: list[Step]) -> tuple[tuple[tuple[Any, ...], ...], Names]:
    """What rows share comes first: an error names it."""
    own, older = (
        (name for step in steps for name in step.names[:1]),
        (name for step in steps for name in step.names[1:]),
    )
    numbers = {name: number for number, name in enumerate(dict.fromkeys((*own, *older)))}
    first = sorted(steps, key=lambda step: step.kind != ops.STEP_ENTITY and step.to != ops.TO_SHARED)
    made = tuple((step.kind, tuple(numbers[name] for name in step.names), *step[2:]) for step in first)
    return made, Names(name.encode() for name in numbers)


@lru_cache(4_096)
def camel(name: str) -> str:
    """A name as JSON has it."""
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)
