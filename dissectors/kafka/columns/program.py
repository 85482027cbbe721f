"""Turns one version of a message into a flat program for the walker: what to read into which column, what to pass over.

Adjacent fields of fixed size become one operation with one check of the bytes left; only fields whose role has a column
are read. A register holds what a row needs from the structs around it (topic, partition, ...); the element that fills a
register empties it when it ends, so no value reaches a row that it does not belong to. The operations are described in
`dissectors.layout`.

Sources: protocol guide; KIP-482 (compact lengths, tagged fields).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from dissectors import layout
from dissectors.kafka.schema import headers, lookup, roles

# Role -> column, for a value of the whole message.
VALUE_OF_ROLE = {
    "throttle": layout.VALUE_THROTTLE_MS,
    "acks": layout.VALUE_ACKS,
    "max_wait": layout.VALUE_MAX_WAIT_MS,
    "min_bytes": layout.VALUE_MIN_BYTES,
    "isolation_level": layout.VALUE_ISOLATION_LEVEL,
    "session_id": layout.VALUE_SESSION_ID,
    "session_epoch": layout.VALUE_SESSION_EPOCH,
    "group": layout.VALUE_GROUP_ID,
    "member": layout.VALUE_MEMBER_ID,
    "transactional_id": layout.VALUE_TRANSACTIONAL_ID,
    "replica_id": layout.VALUE_REPLICA_ID,
    "timeout": layout.VALUE_TIMEOUT_MS,
    "software_name": layout.VALUE_SOFTWARE_NAME,
    "software_version": layout.VALUE_SOFTWARE_VERSION,
    "mechanism": layout.VALUE_MECHANISM,
    "generation": layout.VALUE_GENERATION_ID,
}

# Role of an array -> column that counts its elements.
COUNT_OF_ROLE = {"topics": layout.VALUE_TOPICS, "partitions": layout.VALUE_PARTITIONS}

# Role -> column of an entry, for what every row inside the struct shares.
CONTEXT_OF_ROLE = {
    "topic": layout.ENTRY_TOPIC,
    "topic_id": layout.ENTRY_TOPIC_ID_HIGH,
    "partition": layout.ENTRY_PARTITION,
}

# Role -> column of an entry, for fields of the row's own element.
ENTRY_OF_ROLE = {
    "offset": layout.ENTRY_OFFSET,
    "high_watermark": layout.ENTRY_HIGH_WATERMARK,
    "last_stable_offset": layout.ENTRY_LAST_STABLE_OFFSET,
    "log_start_offset": layout.ENTRY_LOG_START_OFFSET,
    "leader_epoch": layout.ENTRY_LEADER_EPOCH,
    "preferred_read_replica": layout.ENTRY_PREFERRED_READ_REPLICA,
    "timestamp": layout.ENTRY_TIMESTAMP,
}

# Type -> bytes and the operation that reads it; those without a second value are never read, only passed over.
FIXED = {
    "bool": (1, layout.LOAD_UINT8),
    "int8": (1, layout.LOAD_INT8),
    "int16": (2, layout.LOAD_INT16),
    "uint16": (2, layout.LOAD_UINT16),
    "int32": (4, layout.LOAD_INT32),
    "uint32": (4, layout.LOAD_UINT32),
    "int64": (8, layout.LOAD_INT64),
    "float64": (8, -1),
    "uuid": (16, layout.LOAD_UUID),
}

_NO_TARGET = -1


class Program(NamedTuple):
    """`code` is int32; at most `depth` arrays and tagged sections are open at once while it runs."""

    code: array[int]
    depth: int


class ErrorField(NamedTuple):
    """Of an error code: its path (`topics[].partitions[].error_code`), and what it is about (message, topic, ...)."""

    path: str
    level: str


@cache
def error_fields(key: int, direction: str) -> dict[int, ErrorField]:
    """Field number -> where it stands, for ERROR_FIELD of an API's "request" or "response"; empty without a schema."""
    api = lookup.api(key)
    if api is None:
        return {}
    message = api.message(direction)
    paths = roles.paths(message)
    return {number: ErrorField(paths[number], level) for number, level in roles.error_levels(message).items()}


def build(key: int, version: int, direction: str, entries: bool) -> Program:
    """The program for header and body of a message; one that stops behind the header where no schema knows the version.

    Without `entries` what only entries need is passed over.
    """
    writer = _Writer(key, version, entries)
    writer.header(direction)
    api = lookup.api(key)
    if api is None or version not in api.versions:
        writer.operation(layout.OP_UNSUPPORTED)
    else:
        writer.operation(layout.OP_BODY)
        writer.flexible = api.is_flexible(version)
        writer.message(api.message(direction))
    return Program(writer.code, writer.deepest)


@dataclass(slots=True)
class _Element:
    """The array element (or the message itself) whose fields are being written."""

    in_array: bool = False
    is_row: bool = False
    forgotten: bool = False
    entity: int = _NO_TARGET  # register of the innermost entity around
    filled_around: frozenset[int] = frozenset()  # registers that the structs around have filled before
    filled: list[int] = field(default_factory=list)
    has_error: bool = False  # an error code came already
    late: list[int] = field(default_factory=list)  # registers filled after an error code


class _Writer:
    """Writes the operations of one version of one message."""

    def __init__(self, key: int, version: int, entries: bool) -> None:
        self.key = key
        self.version = version
        self.entries = entries
        self.flexible = False
        self.code = array("i")
        self.depth = 0
        self.deepest = 0
        self.top_values: set[str] = set()
        self.defaults: list[tuple[int, int]] = []
        self.has_errors = False
        # Fields of fixed size that are not written yet.
        self.fixed_bytes = 0
        self.loads: list[tuple[int, int, int, int]] = []

    # ---- code ----

    def operation(self, *words: int) -> int:
        """Writes an operation; gives its place."""
        self.flush()
        self.code.extend(words)
        return len(self.code) - len(words)

    def flush(self) -> None:
        if self.fixed_bytes:
            self.code.extend((layout.OP_FIXED, self.fixed_bytes, len(self.loads)))
            for load in self.loads:
                self.code.extend(load)
        self.fixed_bytes = 0
        self.loads = []

    def here(self, place: int) -> None:
        """Lets the operand at `place` point to what is written next."""
        self.flush()
        self.code[place] = len(self.code)

    def load(self, load: int, size: int, targets: Iterable[tuple[int, int]]) -> None:
        self.loads += [(load, self.fixed_bytes, to, also) for to, also in targets]
        self.fixed_bytes += size

    def deeper(self, step: int) -> None:
        self.depth += step
        self.deepest = max(self.deepest, self.depth)

    def form(self, plain: int) -> int:
        return layout.FORM_COMPACT if self.flexible else plain

    # ---- messages ----

    def header(self, direction: str) -> None:
        """The client id is never compact; ControlledShutdown v0 has none (see `headers`)."""
        if direction == "request":
            self.load(-1, 8, ())
            version = headers.request_version(self.key, self.version)
            if version >= 1:
                to = layout.VALUE_CLIENT_ID
                self.operation(layout.OP_SIZED, layout.FORM_INT16, layout.USE_TEXT, to, _NO_TARGET)
            has_tags = version >= 2
        else:
            self.load(-1, 4, ())
            has_tags = headers.response_version(self.key, self.version) >= 1
        if has_tags:
            self.tags((), _Element())

    def message(self, message: lookup.Message) -> None:
        present = [each for each in roles.walk(message) if self.version in each[1].versions]
        self.has_errors = any("error" in each.roles for _, each, _ in present)
        for _, each, around in present:
            if not any(outer.is_array for outer in (*around, each)):
                self.top_values.update(each.roles)
        element = _Element(entity=self.entity_register(message.fields, _NO_TARGET))
        self.struct(message.fields, element)
        for to, value in self.defaults:
            self.operation(layout.OP_DEFAULT, to, value)
        self.element_end(layout.OP_END, element)

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
        place = self.operation(layout.OP_TAGS, 0, len(known), *words)
        for index, each in enumerate(known):
            self.here(place + 4 + 2 * index)
            self.default(each, element)
            self.field(each, element)
            self.operation(layout.OP_TAG_END)
        self.here(place + 1)
        self.deeper(-1)

    def default(self, each: lookup.Field, element: _Element) -> None:
        """A tagged value of the message that is absent has its default; in rows it is unknown."""
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
            place = self.operation(layout.OP_NULLABLE, 0) if nullable else -1
            self.struct(each.fields, element)
            if nullable:
                self.here(place + 1)
        else:
            self.value(each, element)

    def value(self, each: lookup.Field, element: _Element) -> None:
        """A primitive, or an element of an array of primitives."""
        if each.type in FIXED:
            size, load = FIXED[each.type]
            if "error" in each.roles:
                load = layout.LOAD_ERROR
                if element.is_row and self.entries:
                    self.fill(layout.ENTRY_ERROR_CODE, element)
                    load = layout.LOAD_ROW_ERROR
                element.has_error = True
                targets = [(each.number, element.entity)]
            else:
                targets = [(to, _NO_TARGET) for to in self.targets(each, element)]
            self.load(load, size, targets)
            return
        form = self.form(layout.FORM_INT16 if each.type == "string" else layout.FORM_INT32)
        use, targets_of_text = layout.USE_NOTHING, [_NO_TARGET, _NO_TARGET]
        if each.type == "records":
            use = layout.USE_RECORDS
            if element.is_row and self.entries:
                targets_of_text[0] = self.fill(layout.ENTRY_RECORD_BYTES, element)
                targets_of_text[1] = self.fill(layout.ENTRY_NEXT_OFFSET, element)
        elif each.type == "string" and "secret" not in each.roles:
            found = self.targets(each, element)
            targets_of_text[: len(found)] = found
            use = layout.USE_TEXT if found else use
        self.operation(layout.OP_SIZED, form, use, *targets_of_text)

    def targets(self, each: lookup.Field, element: _Element) -> list[int]:
        """Where the value of a field goes: at most one column of values and one register."""
        found = []
        for role in each.roles:
            if role in VALUE_OF_ROLE:
                if not element.in_array:
                    found.append(VALUE_OF_ROLE[role])
                elif role not in self.top_values:
                    found.append(layout.TO_ONCE + VALUE_OF_ROLE[role])
            elif role in CONTEXT_OF_ROLE and (self.entries or self.has_errors):
                found.append(self.fill(CONTEXT_OF_ROLE[role], element))
            elif role in ENTRY_OF_ROLE and self.entries and element.is_row:
                found.append(self.fill(ENTRY_OF_ROLE[role], element))
            elif role == "entity" and self.has_errors and each.type == "string":
                found.append(self.fill(element.entity, element))
        return found

    def fill(self, register: int, element: _Element) -> int:
        """Notes that this element fills a register; gives its target."""
        if register in element.filled_around:
            raise lookup.SchemaError(f"key {self.key} version {self.version}: a role within an element that has it too")
        registers = (register, register + 1) if register == layout.ENTRY_TOPIC_ID_HIGH else (register,)
        for each in registers:
            if each not in element.filled:
                element.filled.append(each)
            if element.has_error and each not in element.late:
                element.late.append(each)
        return layout.TO_REGISTER + register

    def entity_register(self, fields: tuple[lookup.Field, ...], around: int) -> int:
        """The register of this struct's own entity, one behind that of the structs around, or theirs."""
        own = any("entity" in each.roles and self.version in each.versions for each in fields)
        if not own:
            return around
        return layout.REGISTER_ENTITY if around == _NO_TARGET else around + 1

    # ---- arrays ----

    def array(self, each: lookup.Field, element: _Element) -> None:
        count = next((COUNT_OF_ROLE[role] for role in each.roles if role in COUNT_OF_ROLE), _NO_TARGET)
        form = self.form(layout.FORM_INT32)
        is_row = "row" in each.roles or (element.forgotten and each.type != "struct")
        forgotten = element.forgotten or "forgotten" in each.roles
        inner = _Element(True, is_row, forgotten, element.entity, element.filled_around | set(element.filled))
        size = self.fixed_size(each)
        if size and not (is_row and self.entries) and not self.is_read(each):
            self.operation(layout.OP_ITEMS, form, size, count)
            return
        self.deeper(1)
        least = max(1, self.least_bytes(each))
        place = self.operation(layout.OP_ARRAY, form, least, count, self.touched(each), 0)
        if each.type == "struct":
            inner.entity = self.entity_register(each.fields, element.entity)
            self.struct(each.fields, inner)
        else:
            inner.entity = self.entity_register((each,), element.entity)
            self.value(each, inner)
        if is_row and self.entries:
            self.operation(layout.OP_ROW, int(forgotten))
        self.element_end(layout.OP_NEXT, inner)
        self.here(place + 5)
        self.deeper(-1)
        element.has_error |= inner.has_error

    def element_end(self, operation: int, element: _Element) -> None:
        if element.late:
            self.operation(layout.OP_PATCH, len(element.late), *element.late)
        self.operation(operation, len(element.filled), *element.filled)

    def present(self, each: lookup.Field) -> list[lookup.Field]:
        """The fields inside an array element or struct, of this version, at any depth."""
        found = []
        for inner in each.fields:
            if self.version in inner.versions:
                found += [inner, *self.present(inner)]
        return found

    def is_read(self, array_field: lookup.Field) -> bool:
        """Whether some value inside an array of fixed size has a column in this program."""
        for each in (array_field, *self.present(array_field)):
            for role in each.roles:
                if role == "error" or (role in VALUE_OF_ROLE and role not in self.top_values):
                    return True
        return False

    def touched(self, array_field: lookup.Field) -> int:
        inside = self.present(array_field)
        found = 0
        if any("partitions" in each.roles for each in inside):
            found |= layout.TOUCH_PARTITIONS
        if any(each.type == "records" for each in inside):
            found |= layout.TOUCH_RECORDS
        return found

    def fixed_size(self, each: lookup.Field) -> int | None:
        """Bytes of every element of an array (or of a field that is none); None when they differ."""
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
        """Bytes that an element of an array (or a field that is none) takes at least."""
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
