"""A message as a tree for a person: a line per value, with its place in the frame."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analyzer.base.text import escape_json
from analyzer.messages.render import Renderer, error

if TYPE_CHECKING:
    from dissectors.kafka.messages.explain import Embedded, Explained, Node, Struct

# Values of bytes, records and text longer than this are cut: `kanalyze dump` has them whole.
_MOST_CHARACTERS = 160


def tree(found: Explained, renderer: Renderer) -> Iterator[str]:
    """The lines of one message: offset of the first byte in the frame (its length field not counted), size, name,
    value.
    """
    yield f"{'offset':>8} {'size':>7}  field"
    yield from _message(found, 0, renderer)


def _message(found: Explained | Embedded, depth: int, renderer: Renderer) -> Iterator[str]:
    yield from _struct(found.header, depth, renderer)
    if found.body is not None:
        yield from _struct(found.body, depth, renderer)
    indent = "  " * depth
    if found.leftover_bytes:
        yield f"{'':>8} {found.leftover_bytes:>7}  {indent}bytes follow that the schema does not know"
    for note in found.notes:
        yield f"{'':>16}  {indent}note: {note}"
    if found.error is not None:
        problem = error(found.error)
        where = problem["path"] or "the start"
        yield f"{problem['offset']:>8} {'':>7}  {indent}{problem['kind']} at {where}: {problem['message']}"


def _struct(struct: Struct, depth: int, renderer: Renderer) -> Iterator[str]:
    for node in struct.fields.values():
        yield from _node(node, depth, renderer, struct)
    for tag, value in struct.unknown_tags.items():
        yield f"{'':>8} {len(value):>7}  {'  ' * depth}unknown tag {tag}"


def _node(node: Node, depth: int, renderer: Renderer, around: Struct) -> Iterator[str]:
    from dissectors.kafka.messages.explain import Struct

    place = f"{node.start:>8} {node.end - node.start:>7}  {'  ' * depth}"
    hidden = renderer.hides(node, around)
    if isinstance(node.value, Struct) and not hidden:
        yield f"{place}{node.name}"
        yield from _struct(node.value, depth + 1, renderer)
    elif isinstance(node.value, list) and not hidden:
        yield from _array(node, place, depth, renderer, around)
    elif node.field is not None and node.field.type == "records" and node.value is not None and not hidden:
        yield from _records(node, place, depth, renderer)
    else:
        yield f"{place}{node.name} = {_text(renderer.node(node, around))}{_meaning(node)}"
    if node.embedded is not None:
        # Also inside a field that is secret as a whole: the message in it has marks of its own.
        yield from _embedded(node, node.embedded, depth + 1, renderer)


def _embedded(node: Node, found: Explained | Embedded, depth: int, renderer: Renderer) -> Iterator[str]:
    """What bytes hold, below them, its places those of the frame around it."""
    size = len(node.value)
    yield f"{node.end - size:>8} {size:>7}  {'  ' * depth}{_title(found)}"
    yield from _message(found, depth + 1, renderer)


def _title(found: Explained | Embedded) -> str:
    from dissectors.kafka.messages.explain import Embedded
    from dissectors.kafka.schema import lookup

    if isinstance(found, Embedded):
        return f"{found.schema} version {found.version}"
    known = lookup.known_keys().get(found.api_key)
    return f"{known.name if known else f'key {found.api_key}'} version {found.version}, {found.direction}"


def _records(node: Node, place: str, depth: int, renderer: Renderer) -> Iterator[str]:
    """A line per batch: its place counts from the start of the records, so it is left out here."""
    found = renderer.batches(node.value)
    more = {name: value for name, value in found.items() if name not in ("size_bytes", "batches")}
    yield f"{place}{node.name}: {found['size_bytes']} bytes{' ' + _text(more) if more else ''}"
    for batch in found["batches"]:
        words = ", ".join(f"{name} {_text(value)}" for name, value in batch.items() if value is not None)
        yield f"{'':>16}  {'  ' * (depth + 1)}batch: {words}"


def _array(node: Node, place: str, depth: int, renderer: Renderer, around: Struct) -> Iterator[str]:
    from dissectors.kafka.messages.explain import Struct

    if not any(isinstance(element.value, Struct) for element in node.value):
        yield f"{place}{node.name} = {_text(renderer.node(node, around))}"
        return
    yield f"{place}{node.name}: {len(node.value)}"
    for element in node.value:
        yield from _node(element, depth + 1, renderer, around)


def _text(value: Any) -> str:
    text = escape_json(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}... ({len(text):,} characters)"


def _meaning(node: Node) -> str:
    """The name of an error code, behind its number."""
    if node.field is None or "error" not in node.field.roles or not node.value:
        return ""
    from dissectors.kafka.schema.error_codes import error_code

    return f"  {error_code(node.value).name}"
