"""The reference interpreter: one message as a tree of values with their places, or as much of it as can be read.

It walks the schema tree field by field and is written to be checked by eye; the compiled walker must agree with it. It
refuses nothing that Kafka's format allows: null where the version does not provide for it, text that is not UTF-8 and
bytes left over in a tagged field are accepted and noted. Messages inside `bytes` fields (subscriptions, assignments,
enveloped requests) stay bytes here: a reader of those belongs behind the field, in `_Interpreter.value`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dissectors.errors import DissectError, Unsupported
from dissectors.kafka import headers, schema
from dissectors.kafka.wire import LEAST_BYTES, Wire

if TYPE_CHECKING:
    from collections.abc import Iterable

# Error of a broker that does not know the asked version of ApiVersions; its answer is then always of version 0.
UNSUPPORTED_VERSION = 35


@dataclass(slots=True)
class Node:
    """A value and the bytes [start, end) of the frame that hold it; a tagged field that is absent has start == end.

    `value` is None, bool, int, float, str, bytes (uuid: its 16), a memoryview (records), a Struct, or a list of Nodes.
    `field` is its line of the schema; None in headers and for elements of arrays.
    """

    name: str
    value: Any
    start: int
    end: int
    field: schema.Field | None


@dataclass(slots=True)
class Struct:
    """Fields in wire order, then the absent tagged ones at their default; and tagged fields that we do not know."""

    fields: dict[str, Node] = field(default_factory=dict)
    unknown_tags: dict[int, bytes] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        """The value of a field; None when there is none."""
        node = self.fields.get(name)
        return None if node is None else node.value


@dataclass(slots=True)
class Explained:
    """A frame as it was understood. `body` is None when not even its first byte could be looked at.

    With `error` set, header and body hold what came before it. `body_version` is `version` but for an ApiVersions
    answer that fell back to 0. `leftover_bytes` follow the end of the body.
    """

    api_key: int
    version: int
    direction: str
    header: Struct
    body: Struct | None
    body_version: int
    notes: list[str]
    leftover_bytes: int
    error: DissectError | None


def explain(api_key: int, version: int, direction: str, frame: bytes | memoryview) -> Explained:
    """Reads a frame (without its 4-byte length) as `direction` ("request" or "response") of an API version.

    Never raises for what the bytes say: `error` then holds the Truncated, Malformed or Unsupported.
    """
    found = Explained(api_key, version, direction, Struct(), None, version, [], 0, None)
    wire = Wire(frame)
    try:
        _header(found, wire)
        _body(found, wire)
    except DissectError as error:
        found.error = error
    return found


def _header(found: Explained, wire: Wire) -> None:
    reader = _Interpreter(wire, found.version, False, found.notes)
    key, version, header = found.api_key, found.version, found.header
    if found.direction == "request":
        header_version = headers.request_version(key, version)
        reader.plain(header, "request_api_key", wire.int16)
        reader.plain(header, "request_api_version", wire.int16)
        reader.plain(header, "correlation_id", wire.int32)
        if header_version >= 1:
            reader.plain(header, "client_id", lambda: reader.text(-1, "client_id", compact=False))
        if header_version >= 2:
            reader.tagged((), header)
        said = (header.value("request_api_key"), header.value("request_api_version"))
        if said != (key, version):
            found.notes.append(f"the header says key {said[0]} version {said[1]}, read as key {key} version {version}")
        return
    reader.plain(header, "correlation_id", wire.int32)
    if headers.response_version(key, version) >= 1:
        reader.tagged((), header)


def _body(found: Explained, wire: Wire) -> None:
    api = schema.api(found.api_key)
    if api is None:
        raise Unsupported("", wire.at, "an API key with a schema", f"key {found.api_key}")
    begin = wire.at
    try:
        if found.version not in api.versions:
            raise Unsupported("", begin, f"{api.name} version {api.versions}", f"version {found.version}")
        _read_as(found, api, found.version, wire)
        fits = found.leftover_bytes == 0
    except DissectError:
        if not _is_fallback(found, api, wire, begin):
            raise
        return
    if not fits:
        _is_fallback(found, api, wire, begin)


def _read_as(found: Explained, api: schema.Api, version: int, wire: Wire) -> None:
    found.body = Struct()
    message = api.message(found.direction)
    _Interpreter(wire, version, api.is_flexible(version), found.notes).struct(message.fields, found.body)
    found.leftover_bytes = wire.left


def _is_fallback(found: Explained, api: schema.Api, wire: Wire, begin: int) -> bool:
    """Whether this is a broker's refusal of an ApiVersions version, written as version 0; the body then is that."""
    if api.key != headers.API_VERSIONS or found.direction != "response" or found.version == 0:
        return False
    trial = Explained(api.key, 0, "response", found.header, None, 0, [], 0, None)
    again = Wire(wire.data, begin)
    try:
        _read_as(trial, api, 0, again)
    except DissectError:
        return False
    if again.left or trial.body is None or trial.body.value("error_code") != UNSUPPORTED_VERSION:
        return False
    found.body, found.body_version, found.leftover_bytes = trial.body, 0, 0
    found.notes[:] = [f"version {found.version} was refused: the answer is read as version 0"]
    return True


class _Interpreter:
    """Reads the fields of one version into Structs; notes what is unusual, once per field."""

    def __init__(self, wire: Wire, version: int, flexible: bool, notes: list[str]) -> None:
        self.wire = wire
        self.version = version
        self.flexible = flexible
        self.notes = notes
        self.noted: set[tuple[int, str]] = set()

    def struct(self, fields: tuple[schema.Field, ...], into: Struct) -> None:
        present = [each for each in fields if self.version in each.versions]
        for each in present:
            if each.tag is None:
                self.field(each, into)
        if self.flexible:
            self.tagged([each for each in present if each.tag is not None], into)

    def tagged(self, known: Iterable[schema.Field], into: Struct) -> None:
        wire = self.wire
        by_tag = {each.tag: each for each in known}
        last = -1
        for tag, size in wire.tagged():
            field = by_tag.get(tag)
            if tag < last:
                self.note(-1, "tagged fields do not stand in ascending order")
            last = tag
            if tag in into.unknown_tags or (field is not None and field.name in into.fields):
                self.note(-tag - 1, f"tag {tag} in {wire.where() or 'message'} occurs twice; the last one counts")
            if field is None:
                into.unknown_tags[tag] = bytes(wire.skip(size))
                continue
            with wire.inside(size):
                self.field(field, into)
                if wire.left:
                    self.note(field.number, f"{field.name} (tag {tag}) leaves {wire.left} bytes of its size unread")
        for field in by_tag.values():
            if field.name not in into.fields:
                into.fields[field.name] = Node(field.name, self.absent(field), wire.at, wire.at, field)

    def field(self, field: schema.Field, into: Struct) -> None:
        wire = self.wire
        node = Node(field.name, None, wire.at, wire.at, field)
        into.fields[field.name] = node
        wire.path.append("." + field.name)
        try:
            if field.is_array:
                self.array(field, node)
            elif field.type == "struct":
                self.nested(field, node)
            else:
                node.value = self.value(field)
        except DissectError:
            # What was read of a struct or array stays; of a single value there is nothing to show.
            if node.value is None:
                del into.fields[field.name]
            raise
        finally:
            node.end = wire.at
        if node.value is None and not self.may_be_null(field):
            self.note(field.number, f"{field.name} is null, which version {self.version} does not provide for")
        wire.path.pop()

    def array(self, field: schema.Field, node: Node) -> None:
        wire = self.wire
        count = wire.array_count(self.flexible, LEAST_BYTES[field.type])
        if count is None:
            return
        elements: list[Node] = []
        node.value = elements
        for index in range(count):
            name = f"[{index}]"
            wire.path.append(name)
            element = Node(name, None, wire.at, wire.at, None)
            if field.type == "struct":
                element.value = Struct()
                elements.append(element)
                self.struct(field.fields, element.value)
            else:
                element.value = self.value(field)
                elements.append(element)
            element.end = wire.at
            wire.path.pop()

    def nested(self, field: schema.Field, node: Node) -> None:
        """A struct; a nullable one has a byte before it, below zero for null."""
        if self.may_be_null(field) and self.wire.int8() < 0:
            return
        node.value = Struct()
        self.struct(field.fields, node.value)

    def value(self, field: schema.Field) -> Any:
        wire, kind = self.wire, field.type
        if kind == "string":
            return self.text(field.number, field.name, self.flexible)
        if kind in ("bytes", "records"):
            found = wire.sized_bytes(self.flexible)
            return bytes(found) if kind == "bytes" and found is not None else found
        return wire.boolean() if kind == "bool" else getattr(wire, kind)()

    def text(self, number: int, name: str, compact: bool) -> str | None:
        begin = self.wire.at
        text = self.wire.string(compact)
        if text and "\ufffd" in text and text.encode() not in bytes(self.wire.data[begin : self.wire.at]):
            self.note(number, f"{name} is not UTF-8; what is not is shown as \ufffd")
        return text

    def plain(self, into: Struct, name: str, read: Any) -> None:
        """A field of a header."""
        self.wire.path.append("." + name)
        begin = self.wire.at
        value = read()
        into.fields[name] = Node(name, value, begin, self.wire.at, None)
        self.wire.path.pop()

    def absent(self, field: schema.Field) -> Any:
        """The value of a tagged field that is not there."""
        if field.default is not None:
            return default_value(field)
        if field.type == "struct" and not field.is_array:
            inner = Struct()
            for each in field.fields:
                if self.version in each.versions:
                    inner.fields[each.name] = Node(each.name, self.absent(each), self.wire.at, self.wire.at, each)
            return inner
        return default_value(field)

    def may_be_null(self, field: schema.Field) -> bool:
        return field.nullable is not None and self.version in field.nullable

    def note(self, number: int, text: str) -> None:
        if (number, text) not in self.noted:
            self.noted.add((number, text))
            self.notes.append(text)


_ZERO = {"bool": False, "float64": 0.0, "string": "", "bytes": b"", "records": None, "uuid": bytes(16)}


def default_value(field: schema.Field) -> Any:
    """What Kafka takes for a field that is absent: the text after "=" as a value of its type, else the type's zero."""
    text = field.default
    if text == "null":
        return None
    if field.is_array:
        return []
    if text is None:
        return _ZERO.get(field.type, 0)
    if field.type == "bool":
        return text == "true"
    if field.type == "string":
        return text.strip('"')
    return float(text) if field.type == "float64" else int(text, 0)
