"""What the tests of the walker share: vectors, batches of frames, and the columns that an interpreter's tree implies.

The projection is written from the meaning of the roles alone; it knows nothing of programs or registers.
Run as a script, it prints a digest of what the walker makes of Apache's messages (for compiled = uncompiled).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafka_reference import RELEASES
from kafka_vectors import vectors

from dissectors import layout
from dissectors.kafka.columns import role_columns, walk
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import Explained, Node, Struct, explain
from dissectors.kafka.schema import lookup, roles
from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix


class Message(NamedTuple):
    key: int
    version: int
    direction: str
    frame: bytes
    body_offset: int = -1


def apaches_messages() -> list[Message]:
    """The messages that Apache's encoder wrote."""
    return [
        Message(row["api_key"], row["version"], row["direction"], bytes.fromhex(row["hex"]), row["body_offset"])
        for release in RELEASES
        for row in vectors(release)
    ]


def batch(messages: list[Message], held: list[int] | None = None, gap: bytes = b"\xff") -> tuple[bytes, memoryview]:
    """A block with the frames one behind another, `gap` between them, and their frame rows.

    `held` cuts what is there of each frame; the cut bytes are not in the block at all.
    """
    frames = new_matrix(layout.FRAME_COLUMNS, max(1, len(messages)))
    block = bytearray(gap)
    for row, message in enumerate(messages):
        kept = len(message.frame) if held is None else held[row]
        request = message.direction == "request"
        frames[layout.FRAME_EVENT, row] = layout.FRAME_REQUEST_SEEN if request else layout.FRAME_REPLY_SEEN
        frames[layout.FRAME_OFFSET, row] = len(block)
        frames[layout.FRAME_HELD, row] = kept
        frames[layout.FRAME_LENGTH, row] = len(message.frame)
        frames[layout.FRAME_KEY, row] = message.key
        frames[layout.FRAME_VERSION, row] = message.version
        block += message.frame[:kept] + gap
    return bytes(block), frames


class Walked(NamedTuple):
    """Columns as Python values: texts as str, absent things left out."""

    decoded: list[int]
    body: list[int]
    values: list[dict[int, object]]
    entries: list[list[dict[int, object]]]
    errors: list[list[dict[int, object]]]


TEXT_VALUES = {
    layout.VALUE_CLIENT_ID,
    layout.VALUE_GROUP_ID,
    layout.VALUE_MEMBER_ID,
    layout.VALUE_TRANSACTIONAL_ID,
    layout.VALUE_SOFTWARE_NAME,
    layout.VALUE_SOFTWARE_VERSION,
    layout.VALUE_MECHANISM,
    layout.VALUE_RACK_ID,
}


def known(matrix: memoryview, columns: int, row: int, texts: list[bytes], text_columns: set[int]) -> dict[int, object]:
    found: dict[int, object] = {}
    for column in range(columns):
        value = matrix[column, row]
        if value != UNKNOWN:
            found[column] = texts[value].decode("utf-8", "replace") if column in text_columns else value
    return found


def walked(walker: Walker, messages: list[Message], held: list[int] | None = None) -> Walked:
    """What the walker makes of messages, as one batch."""
    block, frames = batch(messages, held)
    values = new_matrix(layout.VALUE_COLUMNS, max(1, len(messages)))
    entries_used, errors_used = walker.walk(block, b"", frames, len(messages), values)
    return read_columns(walker, messages, frames, values, entries_used, errors_used)


def read_columns(
    walker: Walker, messages: list[Message], frames: memoryview, values: memoryview, entries_used: int, errors_used: int
) -> Walked:
    count = len(messages)
    texts = walker.texts()
    found = Walked(
        [frames[layout.FRAME_DECODED, row] for row in range(count)],
        [frames[layout.FRAME_BODY, row] for row in range(count)],
        [known(values, layout.VALUE_COLUMNS, row, texts, TEXT_VALUES) for row in range(count)],
        [[] for _ in range(count)],
        [[] for _ in range(count)],
    )
    for row in range(entries_used):
        entry = known(walker.rows_of_entries(), layout.ENTRY_COLUMNS, row, texts, {layout.ENTRY_TOPIC})
        found.entries[entry.pop(layout.ENTRY_FRAME)].append(entry)  # type: ignore[index]
    for row in range(errors_used):
        error = known(
            walker.rows_of_errors(), layout.ERROR_COLUMNS, row, texts, {layout.ERROR_TOPIC, layout.ERROR_ENTITY}
        )
        found.errors[error.pop(layout.ERROR_FRAME)].append(error)  # type: ignore[index]
    return found


# ---- the projection of a tree ----


class Element(NamedTuple):
    """The message or an array element: the fields that are directly in it (in structs too), and what is around it."""

    array: lookup.Field | None
    direct: list[Node]
    around: Element | None


def uuid_halves(value: bytes) -> tuple[int, int]:
    return struct.unpack(">qq", value)


def is_there(node: Node) -> bool:
    return node.end > node.start


def direct_nodes(tree: Struct) -> Iterator[Node]:
    """The fields of a struct and of the structs in it, arrays as one node."""
    for node in tree.fields.values():
        if isinstance(node.value, Struct):
            yield from direct_nodes(node.value)
        else:
            yield node


def elements(tree: Struct, array: lookup.Field | None = None, around: Element | None = None) -> Iterator[Element]:
    """The message and every array element, outer ones first."""
    own = Element(array, list(direct_nodes(tree)), around)
    yield own
    for node in own.direct:
        for item in node.value if isinstance(node.value, list) else ():
            if isinstance(item.value, Struct):
                yield from elements(item.value, node.field, own)
            else:
                leaf = Node(item.name, item.value, item.start, item.end, node.field)
                yield Element(node.field, [leaf], own)


def has_role(node: Node, role: str) -> bool:
    return node.field is not None and role in node.field.roles


def inherited(element: Element | None, role: str) -> object:
    """The value of a role in the innermost struct around that has it."""
    while element is not None:
        for node in element.direct:
            if has_role(node, role) and not isinstance(node.value, list) and is_there(node):
                return node.value
        element = element.around
    return None


def context(element: Element) -> dict[str, object]:
    return {role: inherited(element, role) for role in ("topic", "topic_id", "partition")}


def entity(element: Element | None) -> object:
    value = inherited(element, "entity")
    return value if isinstance(value, str) else None


def put(row: dict[int, object], column: int, value: object) -> None:
    """The smallest int64 is UNKNOWN: the one number that a column cannot hold."""
    if isinstance(value, bytes):
        high, low = uuid_halves(value)
        put(row, column, high)
        put(row, column + 1, low)
    elif value is not None and value != UNKNOWN:
        row[column] = int(value) if isinstance(value, bool) else value


def errors_of(tree: Struct) -> list[tuple[int, dict[int, object]]]:
    """(byte, error row) of each error code, zeros included."""
    found = []
    for element in elements(tree):
        for node in element.direct:
            if has_role(node, "error") and is_there(node):
                around = context(element)
                row: dict[int, object] = {layout.ERROR_CODE: node.value, layout.ERROR_FIELD: node.field.number}
                put(row, layout.ERROR_TOPIC, around["topic"])
                put(row, layout.ERROR_TOPIC_ID_HIGH, around["topic_id"])
                put(row, layout.ERROR_PARTITION, around["partition"])
                put(row, layout.ERROR_ENTITY, entity(element))
                found.append((node.start, row))
    return sorted(found, key=lambda pair: pair[0])


def is_forgotten(element: Element) -> bool:
    inside: Element | None = element
    while inside is not None and inside.array is not None:
        if "forgotten" in inside.array.roles:
            return True
        inside = inside.around
    return False


def is_row(element: Element) -> bool:
    if element.array is None:
        return False
    return "row" in element.array.roles or (is_forgotten(element) and element.array.type != "struct")


def entries_of(tree: Struct) -> list[dict[int, object]]:
    found = []
    for element in elements(tree):
        if not is_row(element):
            continue
        around = context(element)
        row: dict[int, object] = {layout.ENTRY_FORGOTTEN: int(is_forgotten(element))}
        put(row, layout.ENTRY_TOPIC, around["topic"])
        put(row, layout.ENTRY_TOPIC_ID_HIGH, around["topic_id"])
        put(row, layout.ENTRY_PARTITION, around["partition"])
        codes = [node.value for node in element.direct if has_role(node, "error") and is_there(node)]
        if codes:
            row[layout.ENTRY_ERROR_CODE] = next((code for code in codes if code), 0)
        for node in element.direct:
            if node.field.type == "records":
                row[layout.ENTRY_RECORD_BYTES] = len(node.value or b"")
                put(row, layout.ENTRY_NEXT_OFFSET, next_offset(node.value or b""))
            for role in node.field.roles:
                if role in role_columns.ENTRY_OF_ROLE and is_there(node):
                    put(row, role_columns.ENTRY_OF_ROLE[role], node.value)
        found.append((element.direct[0].start, row))
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def next_offset(records: bytes) -> int | None:
    """Behind the last whole batch: every format begins with an offset and a length and has its magic at 16; only magic 2
    tells how far the batch reaches, at 23 of a header of 61 bytes; the least message of the old formats has 26."""
    whole = None
    while len(records) >= 12:
        size = 12 + struct.unpack(">i", records[8:12])[0]
        if not 26 <= size <= len(records):
            break
        whole, records = records[:size], records[size:]
    if whole is None or whole[16] > 2 or (whole[16] == 2 and len(whole) < 61):
        return None
    offset = struct.unpack(">q", whole[:8])[0]
    delta = struct.unpack(">i", whole[23:27])[0] if whole[16] == 2 else 0
    return offset + delta + 1 if 0 <= offset <= 1 << 62 and delta >= 0 else None


def below(array: lookup.Field, version: int) -> Iterator[lookup.Field]:
    for inner in array.fields:
        if version in inner.versions:
            yield inner
            yield from below(inner, version)


def counts_of(tree: Struct, version: int) -> dict[int, object]:
    """Elements of topic and partition arrays, bytes of records: 0 where an array around could have held some."""
    found: dict[int, object] = {}

    def add(column: int, count: int) -> None:
        found[column] = found.get(column, 0) + count  # type: ignore[operator]

    for element in elements(tree):
        for node in element.direct:
            if node.field.type == "records":
                add(layout.VALUE_RECORD_BYTES, len(node.value or b""))
            if not isinstance(node.value, list) or not is_there(node):
                continue
            for role, column in role_columns.COUNT_OF_ROLE.items():
                if role in node.field.roles:
                    add(column, len(node.value))
            for inner in below(node.field, version):
                if "partitions" in inner.roles:
                    add(layout.VALUE_PARTITIONS, 0)
                if inner.type == "records":
                    add(layout.VALUE_RECORD_BYTES, 0)
    return found


def values_of(found: Explained) -> dict[int, object]:
    assert found.body is not None
    row: dict[int, object] = {}
    put(row, layout.VALUE_CLIENT_ID, found.header.value("client_id"))
    version = found.body_version
    row.update(counts_of(found.body, version))
    message = lookup.api(found.api_key).message(found.direction)
    at_top = set()
    for _, field, around in roles.walk(message):
        if version in field.versions and not any(each.is_array for each in (*around, field)):
            at_top.update(field.roles)
    inside: dict[str, list[object]] = {}
    for element in elements(found.body):
        for node in element.direct:
            for role in node.field.roles:
                if role not in role_columns.VALUE_OF_ROLE or node.value is None or isinstance(node.value, list):
                    continue
                if element.array is None:
                    put(row, role_columns.VALUE_OF_ROLE[role], node.value)
                elif role not in at_top:
                    inside.setdefault(role, []).append(node.value)
    for role, several in inside.items():
        if len(several) == 1:
            put(row, role_columns.VALUE_OF_ROLE[role], several[0])
    codes = [error[layout.ERROR_CODE] for _, error in errors_of(found.body)]
    if codes:
        row[layout.VALUE_ERROR_CODE] = next((code for code in codes if code), 0)
        row[layout.VALUE_ERROR_COUNT] = sum(code != 0 for code in codes)
    row[layout.VALUE_LEFTOVER] = found.leftover_bytes
    return row


class Projected(NamedTuple):
    values: dict[int, object]
    entries: list[dict[int, object]]
    errors: list[dict[int, object]]


def project(found: Explained) -> Projected:
    """The columns that the tree of a whole message implies."""
    assert found.body is not None
    errors = [error for _, error in errors_of(found.body) if error[layout.ERROR_CODE]]
    return Projected(values_of(found), entries_of(found.body), errors)


def projected(message: Message) -> Projected:
    found = explain(message.key, message.version, message.direction, message.frame)
    assert found.error is None, (message, found.error)
    return project(found)


def digest(messages: list[Message]) -> str:
    """Of all columns that the walker makes of messages."""
    found = walked(Walker(write_entries=True), messages)
    return hashlib.sha256(repr(found).encode()).hexdigest()


if __name__ == "__main__":
    print(Path(walk.__file__).name, digest(apaches_messages()))
