"""Writes messages: the inverse of `explain`, from the same schema tree. For tests and samples, not for the program.

A struct is a dict with Apache's names in snake_case. Values are those of the trees of `explain`: None, bool, int,
float, str, bytes (a uuid: its 16), dicts, lists. Those of the rendered JSON will do as well: base64 for bytes, 22
characters for a uuid, `NaN`; only `records` cannot be written from their JSON. `unknown_tags` holds tag -> bytes.

What a dict does not name has its default: plain fields are written so, tagged ones are left out. A tagged field that
is named is written even at its default. Tags come in ascending order, as Apache writes them.
Sources: protocol guide; KIP-482 (compact lengths, tagged fields).
"""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterable, Mapping
from struct import pack
from typing import Any, NamedTuple

from dissectors.kafka.messages.explain import Node, Struct, default_value
from dissectors.kafka.schema import headers, lookup

SHAPES = {
    "bool": ">?",
    "int8": ">b",
    "int16": ">h",
    "uint16": ">H",
    "int32": ">i",
    "uint32": ">I",
    "int64": ">q",
    "float64": ">d",
}


class Length(NamedTuple):
    """A length or count at [at, end) of a frame: `raw` is the number as it is written, for a varint 1 above the size.

    `form` is "int16", "int32", "varint" or (in records alone) "zigzag"; `kind` is "string", "bytes", "records",
    "array", "tags" (how many) or "tag" (bytes of one).
    """

    at: int
    end: int
    form: str
    kind: str
    raw: int


def encode(api_key: int, version: int, direction: str, header: Mapping[str, Any], body: Mapping[str, Any]) -> bytes:
    """A frame without its 4-byte length. `header`: correlation_id, client_id, unknown_tags, each if wanted.

    Raises ValueError for a name that the version does not have, and for null where the format has none.
    """
    return encode_with_lengths(api_key, version, direction, header, body)[0]


def encode_with_lengths(
    api_key: int, version: int, direction: str, header: Mapping[str, Any], body: Mapping[str, Any]
) -> tuple[bytes, list[Length]]:
    """The frame, and each length in it, in wire order."""
    api = lookup.api(api_key)
    if api is None or version not in api.versions:
        raise ValueError(f"no schema of key {api_key} version {version}")
    return encode_fields(
        api_key, version, direction, header, body, api.message(direction).fields, api.is_flexible(version)
    )


def encode_fields(
    api_key: int,
    version: int,
    direction: str,
    header: Mapping[str, Any],
    body: Mapping[str, Any],
    fields: Iterable[lookup.Field],
    flexible: bool,
) -> tuple[bytes, list[Length]]:
    """The same, of a body that has these fields, whatever the schema says."""
    writer = _Writer(version, flexible)
    writer.header(api_key, direction, header)
    writer.struct(fields, body)
    return bytes(writer.out), writer.lengths


def encode_struct_with_lengths(name: str, version: int, values: Mapping[str, Any]) -> tuple[bytes, list[Length]]:
    """A struct of `definitions/embedded/NAME.kafka` with its version in front, and each length in it."""
    known = lookup.embedded(name)
    writer = _Writer(version, known.is_flexible(version))
    if known.has_prefix:
        writer.out += pack(">h", version)
        writer.struct(known.fields, values)
    else:
        writer.struct(known.fields, {**values, "version": version})
    return bytes(writer.out), writer.lengths


def plain(struct: Struct) -> dict[str, Any]:
    """A tree as `encode` takes it; tagged fields that are absent on the wire are left out."""
    found = {
        name: _plain(node.value)
        for name, node in struct.fields.items()
        if node.field is None or node.field.tag is None or node.end > node.start
    }
    if struct.unknown_tags:
        found["unknown_tags"] = dict(struct.unknown_tags)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return plain(value)
    if isinstance(value, list):
        return [_plain(element.value) for element in value]
    return bytes(value) if isinstance(value, memoryview) else value


def unsigned_varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def zigzag(value: int) -> bytes:
    """A signed varint of up to 64 bits."""
    return unsigned_varint((value << 1) ^ (value >> 63))


class _Writer:
    """Appends to `out`; notes in `lengths` where a length stands."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.out = bytearray()
        self.lengths: list[Length] = []

    def header(self, key: int, direction: str, header: Mapping[str, Any]) -> None:
        correlation = pack(">i", header.get("correlation_id", 0))
        if direction == "request":
            kind = headers.request_version(key, self.version)
            self.out += pack(">hh", key, self.version) + correlation
            if kind >= 1:
                client = header.get("client_id")
                data = None if client is None else client.encode()
                self.length(-1 if data is None else len(data), "int16", "string")
                self.out += data or b""
            has_tags = kind >= 2
        else:
            self.out += correlation
            has_tags = headers.response_version(key, self.version) >= 1
        if has_tags:
            self.tags((), header)

    def struct(self, fields: Iterable[lookup.Field], values: Mapping[str, Any]) -> None:
        present = {each.name: each for each in fields if self.version in each.versions}
        unknown = values.keys() - present.keys() - {"unknown_tags"}
        if unknown:
            raise ValueError(f"version {self.version} has no {sorted(unknown)}, but {sorted(present)}")
        for each in present.values():
            if each.tag is None:
                self.field(each, values[each.name] if each.name in values else self.absent(each))
        if self.flexible:
            self.tags([each for each in present.values() if each.tag is not None and each.name in values], values)

    def tags(self, known: Iterable[lookup.Field], values: Mapping[str, Any]) -> None:
        by_tag: dict[int, lookup.Field | bytes] = {each.tag or 0: each for each in known}
        by_tag |= {int(tag): _bytes(data) for tag, data in (values.get("unknown_tags") or {}).items()}
        self.length(len(by_tag), "varint", "tags")
        for tag, each in sorted(by_tag.items(), key=lambda pair: pair[0]):
            inner = _Writer(self.version, self.flexible)
            if isinstance(each, bytes):
                inner.out += each
            else:
                inner.field(each, values[each.name])
            self.out += unsigned_varint(tag)
            self.length(len(inner.out), "varint", "tag")
            begin = len(self.out)
            self.lengths += [each._replace(at=each.at + begin, end=each.end + begin) for each in inner.lengths]
            self.out += inner.out

    def field(self, field: lookup.Field, value: Any) -> None:
        if field.is_array:
            self.sized(-1 if value is None else len(value), "int32", "array")
            for element in value or ():
                self.value(field, element)
        elif field.type == "struct" and field.nullable is not None and self.version in field.nullable:
            self.out += b"\xff" if value is None else b"\x01"
            if value is not None:
                self.struct(field.fields, value)
        else:
            self.value(field, value)

    def value(self, field: lookup.Field, value: Any) -> None:
        """A field that is no array, or an element of one."""
        kind = field.type
        if kind in ("string", "bytes", "records"):
            data = None if value is None else value.encode() if kind == "string" else _bytes(value)
            self.sized(-1 if data is None else len(data), "int16" if kind == "string" else "int32", kind)
            self.out += data or b""
        elif value is None:
            raise ValueError(f"{field.name} has no null in version {self.version}")
        elif kind == "struct":
            self.struct(field.fields, value)
        elif kind == "uuid":
            self.out += _uuid(value)
        else:
            self.out += pack(SHAPES[kind], float(value) if kind == "float64" else value)

    def absent(self, field: lookup.Field) -> Any:
        """What stands for a plain field that is not named."""
        if field.type == "struct" and not field.is_array and field.default is None:
            return {}
        value = default_value(field)
        return b"" if value is None and field.type == "records" and field.nullable is None else value

    def sized(self, size: int, form: str, kind: str) -> None:
        """A size or count, -1 for null."""
        self.length(size + 1 if self.flexible else size, "varint" if self.flexible else form, kind)

    def length(self, raw: int, form: str, kind: str) -> None:
        begin = len(self.out)
        self.out += unsigned_varint(raw) if form == "varint" else pack(SHAPES[form], raw)
        self.lengths.append(Length(begin, len(self.out), form, kind, raw))


def _bytes(value: str | bytes) -> bytes:
    return b64decode(value, validate=True) if isinstance(value, str) else bytes(value)


def _uuid(value: str | bytes) -> bytes:
    found = urlsafe_b64decode(value + "==") if isinstance(value, str) else value
    if len(found) != 16:
        raise ValueError(f"a uuid of {len(found)} bytes")
    return found


def nodes(struct: Struct) -> Iterable[Node]:
    """Every node of a tree, outer ones first."""
    for node in struct.fields.values():
        yield node
        yield from _nodes_in(node.value)


def _nodes_in(value: Any) -> Iterable[Node]:
    if isinstance(value, Struct):
        yield from nodes(value)
    elif isinstance(value, list):
        for element in value:
            yield element
            yield from _nodes_in(element.value)
