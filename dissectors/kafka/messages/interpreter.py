"""Reads the fields of a schema, one by one, into a tree: written to be checked by eye.

It refuses nothing that Kafka's format allows: null where the version does not provide for it, text that is not UTF-8
and bytes left over in a tagged field are accepted and noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dissectors.errors import DissectError
from dissectors.kafka.messages.nodes import Node, Struct
from dissectors.kafka.messages.room import Room
from dissectors.kafka.messages.wire import LEAST_BYTES, Wire

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dissectors.kafka.schema.fields import Field


class Interpreter:
    """Reads the fields of one version into Structs, as far as there is `room`; notes what is unusual, once per field."""

    def __init__(self, wire: Wire, version: int, flexible: bool, notes: list[str], room: Room | None = None) -> None:
        self.wire = wire
        self.version = version
        self.flexible = flexible
        self.notes = notes
        self.room = room or Room()
        self.noted: set[tuple[int, str]] = set()

    def struct(self, fields: tuple[Field, ...], into: Struct) -> None:
        present = [each for each in fields if self.version in each.versions]
        for each in present:
            if each.tag is None:
                self.field(each, into)
        if self.flexible:
            self.tagged([each for each in present if each.tag is not None], into)

    def tagged(self, known: Iterable[Field], into: Struct) -> None:
        wire = self.wire
        by_tag = {each.tag: each for each in known}
        last = -1
        for tag, size in wire.tagged():
            field = by_tag.get(tag)
            if tag < last:
                self.note(-1, "tagged fields are not in ascending order")
            last = tag
            self.room.take(wire, 0 if field is not None else size)
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

    def field(self, field: Field, into: Struct) -> None:
        wire = self.wire
        self.room.take(wire)
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

    def array(self, field: Field, node: Node) -> None:
        wire = self.wire
        count = wire.array_count(self.flexible, LEAST_BYTES[field.type])
        if count is None:
            return
        elements: list[Node] = []
        node.value = elements
        for index in range(count):
            name = f"[{index}]"
            wire.path.append(name)
            self.room.take(wire)
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

    def nested(self, field: Field, node: Node) -> None:
        """A struct; a nullable one has a byte before it, below zero for null."""
        if self.may_be_null(field) and self.wire.int8() < 0:
            return
        node.value = Struct()
        self.struct(field.fields, node.value)

    def value(self, field: Field) -> Any:
        wire, kind = self.wire, field.type
        begin = wire.at
        if kind == "string":
            text = self.text(field.number, field.name, self.flexible)
            self.room.take(wire, wire.at - begin, 0)
            return text
        if kind in ("bytes", "records"):
            found = wire.sized_bytes(self.flexible)
            if kind == "records" or found is None:
                return found
            self.room.take(wire, len(found), 0)
            return bytes(found)
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

    def absent(self, field: Field) -> Any:
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

    def may_be_null(self, field: Field) -> bool:
        return field.nullable is not None and self.version in field.nullable

    def note(self, number: int, text: str) -> None:
        if (number, text) not in self.noted:
            self.noted.add((number, text))
            self.notes.append(text)


_ZERO = {"bool": False, "float64": 0.0, "string": "", "bytes": b"", "records": None, "uuid": bytes(16)}


def default_value(field: Field) -> Any:
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
