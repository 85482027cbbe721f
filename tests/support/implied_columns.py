"""The columns that an interpreter's tree implies, of a message that is whole, and of one that does not fit its version.

They are written from the meaning of the roles alone, and know nothing of programs or registers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from dissectors import layout
from dissectors.errors import Unsupported
from dissectors.kafka.columns import role_columns
from dissectors.kafka.messages.explain import Explained, Node, Struct
from dissectors.kafka.schema import lookup, roles
from dissectors.layout import UNKNOWN


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
                if node.value != 0:
                    put(row, layout.ERROR_MESSAGE, said(element, node))
                found.append((node.start, row))
    return sorted(found, key=lambda pair: pair[0])


def said(element: Element, code: Node) -> object:
    """The text of the first @message behind an error code, if no other code is between them."""
    behind = [node for node in element.direct if node.start > code.start and is_there(node)]
    for node in sorted(behind, key=lambda node: node.start):
        if has_role(node, "error"):
            break
        if has_role(node, "message"):
            told = code.value in role_columns.NEVER_ECHO or not has_role(node, "echo")
            return node.value or None if told else None
    return None


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
                    value = of_log(node.value) if role.endswith(("offset", "high_watermark")) else node.value
                    put(row, role_columns.ENTRY_OF_ROLE[role], value)
        found.append((element.direct[0].start, row))
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def of_log(offset: int) -> int | None:
    """As columns have it: null where no log has such an offset."""
    return offset if abs(offset) <= 1 << 60 else None


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
    return offset + delta + 1 if 0 <= offset <= 1 << 60 and delta >= 0 else None


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


def is_refusal(found: Explained) -> bool:
    """Whether it refuses a version of ApiVersions: read as version 0, whatever follows the error."""
    is_first = found.api_key == 18 and found.direction == "response" and found.body_version == 0
    return is_first and found.body is not None and found.body.value("error_code") == 35


def verdict(found: Explained) -> int:
    """What the walker says of a whole frame that the interpreter reads like this."""
    if found.error is None:
        return layout.DECODED_TRAILING if found.leftover_bytes else layout.DECODED_FULL
    if isinstance(found.error, Unsupported):
        return layout.DECODED_UNSUPPORTED
    return layout.DECODED_TRAILING if is_refusal(found) else layout.DECODED_MALFORMED


def project(found: Explained, frame: bytes) -> Projected:
    """The columns that the tree of a whole message implies; of one that does not fit its version only what is certain."""
    if isinstance(found.error, Unsupported):
        return projected_newer(found)
    assert found.body is not None
    errors = [error for _, error in errors_of(found.body) if error[layout.ERROR_CODE]]
    whole = Projected(values_of(found), entries_of(found.body), errors)
    if found.direction == "request" or verdict(found) == layout.DECODED_FULL:
        return whole
    certain = {layout.VALUE_LEFTOVER: found.leftover_bytes} if found.error is None else {}
    if is_refusal(found):
        return Projected(certain | {layout.VALUE_ERROR_CODE: 35, layout.VALUE_ERROR_COUNT: 1}, [], errors)
    if found.leftover_bytes == 1 and frame[-1] == 0:
        whole.values.pop(layout.VALUE_THROTTLE_MS, None)
        return whole
    return Projected(certain, [], [])


def projected_newer(found: Explained) -> Projected:
    """The client, and what the first fields of the body say if they were read; no error code 0, and no counts."""
    values: dict[int, object] = {}
    put(values, layout.VALUE_CLIENT_ID, found.header.value("client_id"))
    if found.body is None:
        return Projected(values, [], [])
    errors = [error for _, error in errors_of(found.body) if error[layout.ERROR_CODE]]
    for node in found.body.fields.values():
        for role in node.field.roles if node.field else ():
            if role in role_columns.VALUE_OF_ROLE:
                put(values, role_columns.VALUE_OF_ROLE[role], node.value)
    for error in errors:
        values[layout.VALUE_ERROR_CODE] = error[layout.ERROR_CODE]
    return Projected(values, [], errors)
