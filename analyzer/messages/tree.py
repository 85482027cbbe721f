"""A message as a tree for a person: a line per value, with its place in the frame."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from analyzer.base.text import escape_json
from analyzer.messages.render import Renderer, base64, error, secret_size
from analyzer.report.format import moment

if TYPE_CHECKING:
    from dissectors.kafka.messages.explain import Embedded, Explained, Node, Struct
    from dissectors.kafka.messages.record_batches import Record

# Values of bytes, records and text longer than this are cut: `kanalyze dump` has them whole.
_MOST_CHARACTERS = 160
# Lines of a batch are broken here; others are as long as their value.
_WIDTH = 118
# Fields of a batch whose value -1 is none.
_NONE_IS_MINUS_ONE = ("partition_leader_epoch", "producer_id", "producer_epoch", "base_sequence", "last_sequence")
_YEAR_10000_MS = 253_402_300_800_000


def tree(found: Explained, renderer: Renderer, topics: Mapping[str, str] | None = None) -> Iterator[str]:
    """The lines of one message: offset of the first byte in the frame (its length field not counted), size, name,
    value; behind the id of a topic its name, when `topics` (id -> name) has it. Fields that are not on the wire, and have their
    default, share a line.
    """
    yield f"{'offset':>8} {'size':>7}  field"
    yield from _Tree(renderer, topics or {}).message(found, 0)


class _Tree:
    """The lines of a message, from the outside in."""

    def __init__(self, renderer: Renderer, topics: Mapping[str, str]) -> None:
        self.renderer = renderer
        self.topics = topics

    def message(self, found: Explained | Embedded, depth: int) -> Iterator[str]:
        yield from self.struct(found.header, depth)
        if found.body is not None:
            yield from self.struct(found.body, depth)
        indent = "  " * depth
        if found.leftover_bytes:
            yield f"{'':>8} {found.leftover_bytes:>7}  {indent}bytes left that the schema does not define"
        for note in found.notes:
            yield f"{'':>16}  {indent}note: {note}"
        if found.error is not None:
            problem = error(found.error)
            where = problem["path"] or "the start"
            yield f"{problem['offset']:>8} {'':>7}  {indent}{problem['kind']} at {where}: {problem['message']}"

    def struct(self, struct: Struct, depth: int) -> Iterator[str]:
        self.renderer.enter(struct)
        absent = [node.name for node in struct.fields.values() if _is_absent(node)]
        for node in struct.fields.values():
            if not _is_absent(node):
                yield from self.node(node, depth, struct)
        for tag, value in struct.unknown_tags.items():
            yield f"{'':>8} {len(value):>7}  {'  ' * depth}unknown tag {tag}"
        if absent:
            yield f"{'':>16}  {'  ' * depth}absent: {', '.join(absent)}"

    def node(self, node: Node, depth: int, around: Struct) -> Iterator[str]:
        from dissectors.kafka.messages.explain import Struct

        place = f"{node.start:>8} {node.end - node.start:>7}  {'  ' * depth}"
        hidden = self.renderer.hides(node, around)
        if isinstance(node.value, Struct) and not hidden:
            yield f"{place}{node.name}"
            yield from self.struct(node.value, depth + 1)
        elif isinstance(node.value, list) and not hidden:
            yield from self.array(node, place, depth, around)
        elif node.field is not None and node.field.type == "records" and node.value is not None and not hidden:
            yield from self.batches(node, place, depth)
        else:
            value = self.renderer.node(node, around)
            yield f"{place}{node.name} = {_text(value)}{self.meaning(node, value)}"
        if node.embedded is not None:
            # Also inside a field that is secret as a whole: the message in it has marks of its own.
            yield from self.embedded(node, node.embedded, depth + 1)

    def embedded(self, node: Node, found: Explained | Embedded, depth: int) -> Iterator[str]:
        """What bytes hold, below them, its places those of the frame around it."""
        size = len(node.value)
        yield f"{node.end - size:>8} {size:>7}  {'  ' * depth}{_title(found)}"
        yield from self.message(found, depth + 1)

    def batches(self, node: Node, place: str, depth: int) -> Iterator[str]:
        """A line per batch and per record: their places count from the start of the records, so they are left out here."""
        read = self.renderer.read(node.value)
        rest = self.renderer.rest(read)
        yield f"{place}{node.name}: {len(node.value)} bytes{' ' + _text(rest) if rest else ''}"
        indent = f"{'':>16}  {'  ' * (depth + 1)}"
        for batch in read.batches:
            yield from _batch(self.renderer.batch_head(batch), indent)
            for record in batch.records or ():
                yield f"{indent}  {_record(record, self.renderer.hides_record(record))}"

    def array(self, node: Node, place: str, depth: int, around: Struct) -> Iterator[str]:
        from dissectors.kafka.messages.explain import Struct

        if not any(isinstance(element.value, Struct) for element in node.value):
            yield f"{place}{node.name} = {_text(self.renderer.node(node, around))}"
            return
        yield f"{place}{node.name}: {len(node.value)}"
        for element in node.value:
            yield from self.node(element, depth + 1, around)

    def meaning(self, node: Node, value: Any) -> str:
        """Behind the number of an error code its name, behind the id of a topic that of the topic."""
        if node.field is None or not node.value:
            return ""
        if "error" in node.field.roles:
            from dissectors.kafka.schema.error_codes import error_code

            return f"  {error_code(node.value).name}"
        return f"  {_text(self.topics[value])}" if node.field.type == "uuid" and value in self.topics else ""


def _is_absent(node: Node) -> bool:
    """A tagged field that is not on the wire."""
    return node.field is not None and node.field.tag is not None and node.start == node.end


def _title(found: Explained | Embedded) -> str:
    from dissectors.kafka.messages.explain import Embedded
    from dissectors.kafka.schema import lookup

    if isinstance(found, Embedded):
        return f"{found.schema} version {found.version}"
    name = lookup.api_name(found.api_key)
    return f"{name} version {found.version}, {found.direction}"


def _batch(head: Mapping[str, Any], indent: str) -> Iterator[str]:
    """batch: size_bytes 573, magic 2, ...; without: producer_id, producer_epoch (where these are -1)"""
    parts, without = [], []
    for name, value in head.items():
        if value == -1 and name in _NONE_IS_MINUS_ONE:
            without.append(name)
        elif value is not None:
            meaning = f" ({_moment(value)})" if name in ("base_timestamp", "max_timestamp") else ""
            parts.append(f"{name} {_text(value)}{meaning}")
    last = [f"without: {', '.join(without)}"] if without else []
    text = "; ".join([", ".join(parts), *last])
    yield from wrap(
        f"batch: {text}",
        max(_WIDTH, len(indent) + 40),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _record(record: Record, hidden: bool) -> str:
    """record 21, 2026-11-21 11:17:12.902, key null, value "...", headers {"trace": "..."}"""
    shown = _secret if hidden else _bytes
    parts = [f"record {'of an unknown offset' if record.offset is None else record.offset}", _moment(record.timestamp)]
    parts += [f"key {_bytes(record.key)}", f"value {shown(record.value)}"]
    parts += [f"header {_text(name)} {shown(value)}" for name, value in record.headers]
    return ", ".join(parts if record.control is None else [*parts, f"control {_text(record.control)}"])


def _moment(ms: int | None) -> str:
    """A time that a client chose: -1 is none, and what no calendar has stays a number."""
    if ms is None:
        return "a time that cannot be"
    if 0 <= ms < _YEAR_10000_MS:
        return f"{moment(ms * 1_000_000, 3)} UTC"
    return "no time" if ms == -1 else f"time {ms} ms"


def _secret(value: bytes | None) -> str:
    return _text(secret_size(value))


def _bytes(value: bytes | memoryview | None) -> str:
    """Text as text, other bytes as base64."""
    if value is None:
        return "null"
    try:
        return _text(str(value, "utf-8"))
    except UnicodeDecodeError:
        return f"base64 {_text(base64(value))}"


def _text(value: Any) -> str:
    text = escape_json(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}... ({len(text):,} characters)"
