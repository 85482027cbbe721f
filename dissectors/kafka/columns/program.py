"""Makes a program for one version of a message: which fields `walk` reads into which columns, and which it skips.

Adjacent fields of fixed size become one operation with one check of the bytes left. Only fields whose role has a column are
read (`role_columns`). A register holds what a row needs from the structs around it (topic, partition, ...); the element that
fills a register empties it when it ends, so no value reaches a row that it does not belong to. `operations` describes what a
program consists of.

Sources: protocol guide; KIP-482 (compact lengths, tagged fields).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from dissectors import layout
from dissectors.kafka.columns import operations as ops
from dissectors.kafka.columns.role_columns import (
    CONTEXT_OF_ROLE,
    COUNT_OF_ROLE,
    ENTRY_OF_ROLE,
    FIXED,
    OFFSETS,
    VALUE_OF_ROLE,
)
from dissectors.kafka.schema import headers, lookup, newer_versions, roles

_NO_TARGET = -1
# Programs that a process keeps for its next run: more than there are versions. Many small captures, and the tasks of a large one,
# are read by one process.
MOST_PROGRAMS = 4_096
# Messages with records whose batches are facts: what clients send, and what they are given.
HAVE_SETS = ((0, "request"), (1, "response"), (78, "response"))  # Produce, Fetch, ShareFetch


class Program(NamedTuple):
    """`code` is an array of int32; at most `depth` arrays and tagged sections are open at once while it runs."""

    code: array[int]
    depth: int


class ErrorField(NamedTuple):
    """An error code of a message: its path (`topics[].partitions[].error_code`) and what it is about (message, topic, ...)."""

    path: str
    level: str


@cache
def error_fields(key: int, direction: str) -> dict[int, ErrorField]:
    """The error codes of an API's "request" or "response" by the number that ERROR_FIELD has; empty without a schema."""
    api = lookup.api(key)
    if api is None:
        return {}
    message = api.message(direction)
    paths = roles.paths(message)
    return {number: ErrorField(paths[number], level) for number, level in roles.error_levels(message).items()}


@lru_cache(MOST_PROGRAMS)
def build(key: int, version: int, direction: str, entries: bool, sets: bool = False) -> Program:
    """The program for header and body of a message; of a version that no schema knows, for the header and what proves itself of the
    body (`newer_versions`).

    Without `entries` no rows of entries are written, and what only they need is skipped; `sets` likewise.
    """
    writer = _Writer(key, version, entries, sets and (key, direction) in HAVE_SETS)
    has_tags = writer.header(direction)
    api = lookup.api(key)
    if api is not None and newer_versions.is_newer(api, version):
        writer.newer(newer_versions.front(api, direction), has_tags)
        return Program(writer.code, writer.deepest)
    if has_tags and api is not None:
        writer.tags((), _Element())
    if api is None or version not in api.versions:
        writer.operation(ops.OP_UNSUPPORTED)
    else:
        writer.operation(ops.OP_BODY)
        writer.flexible = api.is_flexible(version)
        writer.message(api.message(direction))
    return Program(writer.code, writer.deepest)


@dataclass(slots=True)
class _Element:
    """The array element (or the message itself) whose fields are being written."""

    in_array: bool = False
    is_row: bool = False  # an entry is written when the element ends
    forgotten: bool = False  # the entry is a partition that leaves the fetch session
    entity: int = _NO_TARGET  # register of the innermost entity around
    filled_around: frozenset[int] = frozenset()  # registers that structs around filled before this element
    filled: list[int] = field(default_factory=list)  # registers that this element fills
    has_error: bool = False  # an error code came already
    late: list[int] = field(default_factory=list)  # registers filled after an error code: its row lacks them


class _Writer:
    """Writes the operations of one version of one message."""

    def __init__(self, key: int, version: int, entries: bool, sets: bool) -> None:
        self.key = key
        self.version = version
        self.entries = entries
        self.sets = sets
        self.flexible = False
        self.code = array("i")
        self.depth = 0
        self.deepest = 0
        self.top_values: set[str] = set()
        self.defaults: list[tuple[int, int]] = []
        self.has_errors = False
        self.only_error = False  # the message has one error code, and it is in no array
        # Fields of fixed size that are not written yet.
        self.fixed_bytes = 0
        self.loads: list[tuple[int, int, int, int]] = []

    # ---- code ----

    def operation(self, *words: int) -> int:
        """Writes an operation; returns its address."""
        self.flush()
        self.code.extend(words)
        return len(self.code) - len(words)

    def flush(self) -> None:
        if self.fixed_bytes:
            self.code.extend((ops.OP_FIXED, self.fixed_bytes, len(self.loads)))
            for load in self.loads:
                self.code.extend(load)
        self.fixed_bytes = 0
        self.loads = []

    def point_here(self, operand: int) -> None:
        """Sets the operand at this address to the address of what is written next."""
        self.flush()
        self.code[operand] = len(self.code)

    def load(self, load: int, size: int, targets: Iterable[tuple[int, int]]) -> None:
        self.loads += [(load, self.fixed_bytes, to, also) for to, also in targets]
        self.fixed_bytes += size

    def deeper(self, step: int) -> None:
        self.depth += step
        self.deepest = max(self.deepest, self.depth)

    def form(self, plain: int) -> int:
        return ops.FORM_COMPACT if self.flexible else plain

    # ---- messages ----

    def header(self, direction: str) -> bool:
        """All but its tagged fields; returns whether it has some. The client id is never compact; ControlledShutdown v0 has none
        (see `headers`)."""
        if direction == "request":
            self.load(-1, 8, ())
            version = headers.request_version(self.key, self.version)
            if version >= 1:
                to = layout.VALUE_CLIENT_ID
                self.operation(ops.OP_SIZED, ops.FORM_INT16, ops.USE_TEXT, to, _NO_TARGET)
            return version >= 2
        self.load(-1, 4, ())
        return headers.response_version(self.key, self.version) >= 1

    def newer(self, front: newer_versions.Front, has_tags: bool) -> None:
        """What may be read of a message that is newer than its schema."""
        fields: list[int] = []
        for each in front.fields:
            if "error" in each.roles:
                fields += (ops.NEWER_ERROR, each.number, newer_versions.LEAST_ERROR, newer_versions.most_error())
            elif "throttle" in each.roles:
                fields += (ops.NEWER_THROTTLE, layout.VALUE_THROTTLE_MS, 0, newer_versions.MOST_THROTTLE_MS)
            else:
                fields += (ops.NEWER_TEXT, VALUE_OF_ROLE[each.roles[0]], 1, newer_versions.MOST_TEXT_BYTES)
        follows = ops.FOLLOWS_NULLABLE if front.may_be_null else ops.FOLLOWS_LENGTH
        self.operation(
            ops.OP_NEWER, int(has_tags), follows if front.length else ops.FOLLOWS_ANYTHING, len(front.fields), *fields
        )

    def message(self, message: lookup.Message) -> None:
        present = [each for each in roles.walk(message) if self.version in each[1].versions]
        errors = sum("error" in each.roles for _, each, _ in present)
        self.has_errors, self.only_error = errors > 0, errors == 1
        for _, each, around in present:
            if not any(outer.is_array for outer in (*around, each)):
                self.top_values.update(each.roles)
        element = _Element(entity=self.entity_register(message.fields, _NO_TARGET))
        self.struct(message.fields, element)
        for to, value in self.defaults:
            self.operation(ops.OP_DEFAULT, to, value)
        self.element_end(ops.OP_END, element)

    def struct(self, fields: tuple[lookup.Field, ...], element: _Element) -> None:
        present = [each for each in fields if self.version in each.versions]
        for each in present:
            if each.tag is None:
                self.field(each, element)
        if self.flexible:
            self.tags([each for each in present if each.tag is not None], element)

    def tags(self, known: Iterable[lookup.Field], element: _Element) -> None:
        known = list(known)
        self.deeper(1)
        words = [word for each in known for word in (each.tag or 0, 0)]
        address = self.operation(ops.OP_TAGS, 0, len(known), *words)
        for index, each in enumerate(known):
            self.point_here(address + 4 + 2 * index)
            self.default(each, element)
            self.field(each, element)
            self.operation(ops.OP_TAG_END)
        self.point_here(address + 1)
        self.deeper(-1)

    def default(self, each: lookup.Field, element: _Element) -> None:
        """A tagged field that is absent has its default, as a value of the message; in rows it is unknown."""
        if element.in_array or each.is_array:
            return
        for inner in each.fields:
            self.default(inner, element)
        if each.type in FIXED and each.default is not None:
            self.defaults += [
                (VALUE_OF_ROLE[role], int(each.default, 0)) for role in each.roles if role in VALUE_OF_ROLE
            ]

    # ---- fields ----

    def field(self, each: lookup.Field, element: _Element) -> None:
        if each.is_array:
            self.array(each, element)
        elif each.type == "struct":
            nullable = each.nullable is not None and self.version in each.nullable
            address = self.operation(ops.OP_NULLABLE, 0) if nullable else -1
            self.struct(each.fields, element)
            if nullable:
                self.point_here(address + 1)
        else:
            self.value(each, element)

    def value(self, each: lookup.Field, element: _Element) -> None:
        """A primitive, or an element of an array of primitives."""
        if each.type in FIXED:
            size, load = FIXED[each.type]
            if "error" in each.roles:
                load = ops.LOAD_ERROR
                if element.is_row and self.entries:
                    self.fill(layout.ENTRY_ERROR_CODE, element)
                    load = ops.LOAD_ROW_ERROR
                elif self.only_error and not element.in_array:
                    load = ops.LOAD_ONLY_ERROR
                element.has_error = True
                targets = [(each.number, element.entity)]
            else:
                load = ops.LOAD_OFFSET if OFFSETS.intersection(each.roles) else load
                targets = [(to, _NO_TARGET) for to in self.targets(each, element)]
            self.load(load, size, targets)
            return
        form = self.form(ops.FORM_INT16 if each.type == "string" else ops.FORM_INT32)
        use, targets_of_text = ops.USE_NOTHING, [_NO_TARGET, _NO_TARGET]
        if each.type == "records":
            use = ops.USE_SET if self.sets else ops.USE_RECORDS
            if element.is_row and self.entries:
                targets_of_text[0] = self.fill(layout.ENTRY_RECORD_BYTES, element)
                targets_of_text[1] = self.fill(layout.ENTRY_NEXT_OFFSET, element)
        elif each.type == "string" and "secret" not in each.roles:
            found = self.targets(each, element)
            targets_of_text[: len(found)] = found
            use = ops.USE_TEXT if found else use
            if "message" in each.roles:
                use, targets_of_text[0] = ops.USE_MESSAGE, int("echo" in each.roles)
        self.operation(ops.OP_SIZED, form, use, *targets_of_text)

    def targets(self, each: lookup.Field, element: _Element) -> list[int]:
        """The targets of a field: at most one column of values and one register."""
        found = []
        for role in each.roles:
            if role in VALUE_OF_ROLE:
                if not element.in_array:
                    found.append(VALUE_OF_ROLE[role])
                elif role not in self.top_values:
                    found.append(ops.TO_ONCE + VALUE_OF_ROLE[role])
            elif role in CONTEXT_OF_ROLE and (self.entries or self.has_errors or self.sets):
                found.append(self.fill(CONTEXT_OF_ROLE[role], element))
            elif role in ENTRY_OF_ROLE and self.entries and element.is_row:
                found.append(self.fill(ENTRY_OF_ROLE[role], element))
            elif role == "entity" and self.has_errors and each.type == "string":
                found.append(self.fill(element.entity, element))
        return found

    def fill(self, register: int, element: _Element) -> int:
        """Notes that this element fills a register; returns the register as a target."""
        if register in element.filled_around:
            raise lookup.SchemaError(f"key {self.key} version {self.version}: a role within an element that has it too")
        registers = (register, register + 1) if register == layout.ENTRY_TOPIC_ID_HIGH else (register,)
        for each in registers:
            if each not in element.filled:
                element.filled.append(each)
            if element.has_error and each not in element.late:
                element.late.append(each)
        return ops.TO_REGISTER + register

    def entity_register(self, fields: tuple[lookup.Field, ...], around: int) -> int:
        """The register of the entity that a struct names: one behind that of the structs around. Theirs if it names none."""
        own = any("entity" in each.roles and self.version in each.versions for each in fields)
        if not own:
            return around
        return ops.REGISTER_ENTITY if around == _NO_TARGET else around + 1

    # ---- arrays ----

    def array(self, each: lookup.Field, element: _Element) -> None:
        count = next((COUNT_OF_ROLE[role] for role in each.roles if role in COUNT_OF_ROLE), _NO_TARGET)
        form = self.form(ops.FORM_INT32)
        is_row = "row" in each.roles or (element.forgotten and each.type != "struct")
        forgotten = element.forgotten or "forgotten" in each.roles
        inner = _Element(True, is_row, forgotten, element.entity, element.filled_around | set(element.filled))
        size = self.fixed_size(each)
        if size and not (is_row and self.entries) and not self.is_read(each):
            self.operation(ops.OP_ITEMS, form, size, count)
            return
        self.deeper(1)
        least = max(1, self.least_bytes(each))
        address = self.operation(ops.OP_ARRAY, form, least, count, self.touched(each), 0)
        if each.type == "struct":
            inner.entity = self.entity_register(each.fields, element.entity)
            self.struct(each.fields, inner)
        else:
            inner.entity = self.entity_register((each,), element.entity)
            self.value(each, inner)
        if is_row and self.entries:
            self.operation(ops.OP_ROW, int(forgotten))
        self.element_end(ops.OP_NEXT, inner)
        self.point_here(address + 5)
        self.deeper(-1)
        element.has_error |= inner.has_error

    def element_end(self, operation: int, element: _Element) -> None:
        if element.late:
            self.operation(ops.OP_PATCH, len(element.late), *element.late)
        self.operation(operation, len(element.filled), *element.filled)

    def present(self, each: lookup.Field) -> list[lookup.Field]:
        """The fields of this version inside an array element or struct, at any depth."""
        found = []
        for inner in each.fields:
            if self.version in inner.versions:
                found += [inner, *self.present(inner)]
        return found

    def is_read(self, array_field: lookup.Field) -> bool:
        """Whether this program reads a value inside an array whose elements have a fixed size."""
        for each in (array_field, *self.present(array_field)):
            for role in each.roles:
                if role == "error" or (role in VALUE_OF_ROLE and role not in self.top_values):
                    return True
        return False

    def touched(self, array_field: lookup.Field) -> int:
        inside = self.present(array_field)
        found = 0
        if any("partitions" in each.roles for each in inside):
            found |= ops.TOUCH_PARTITIONS
        if any(each.type == "records" for each in inside):
            found |= ops.TOUCH_RECORDS
        return found

    def fixed_size(self, each: lookup.Field) -> int | None:
        """Bytes of each element of an array, or of a plain field; None when they are not all the same."""
        if each.type in FIXED:
            return FIXED[each.type][0]
        if each.type != "struct" or self.flexible:
            return None
        total = 0
        for inner in each.fields:
            if self.version in inner.versions:
                size = None if inner.is_array or inner.nullable else self.fixed_size(inner)
                if size is None:
                    return None
                total += size
        return total

    def least_bytes(self, each: lookup.Field) -> int:
        """The fewest bytes that an element of an array, or a plain field, takes."""
        if each.type in FIXED:
            return FIXED[each.type][0]
        if each.type != "struct":
            return 1 if self.flexible else 2 if each.type == "string" else 4
        total = int(self.flexible)
        for inner in each.fields:
            if self.version in inner.versions and inner.tag is None:
                if inner.is_array:
                    total += 1 if self.flexible else 4
                elif inner.type == "struct" and inner.nullable and self.version in inner.nullable:
                    total += 1
                else:
                    total += self.least_bytes(inner)
        return total
