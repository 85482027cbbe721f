"""What a message looks like on the wire, on one line: from our schema files, and from Apache's field lists.

`topics:[](name:string partitions:[](index:int32)) ~0:rack:string?` is an array of structs; `~0` a field with tag 0;
`?` nullable; `flexible` stands in front of a message with compact lengths. Plain fields come in wire order, then tagged
ones by tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_reference import messages

from dissectors.kafka.schema.field_lines import span
from dissectors.kafka.schema.lookup import OPEN, Api, EmbeddedSchema, Field, Span
from tools.release.apache import snake

if TYPE_CHECKING:
    pass


def of_schema(api: Api, direction: str, version: int) -> str:
    """The layout that our schema file gives to a version."""
    text = _fields(api.message(direction).fields, version, api.is_flexible(version))
    return f"flexible {text}" if api.is_flexible(version) else text


def of_embedded(known: EmbeddedSchema, version: int) -> str:
    """The layout of a struct inside bytes; one whose version stands before its fields has `version | ` in front."""
    text = _fields(known.fields, version, known.is_flexible(version))
    text = f"version | {text}" if known.has_prefix else text
    return f"flexible {text}" if known.is_flexible(version) else text


def _fields(fields: tuple[Field, ...], version: int, flexible: bool) -> str:
    present = [field for field in fields if version in field.versions and (field.tag is None or flexible)]
    present.sort(key=lambda field: -1 if field.tag is None else field.tag)
    return " ".join(_field(field, version, flexible) for field in present)


def _field(field: Field, version: int, flexible: bool) -> str:
    kind = f"({_fields(field.fields, version, flexible)})" if field.type == "struct" else field.type
    return _line(field.name, field.tag, field.is_array, kind, field.nullable is not None and version in field.nullable)


def _line(name: str, tag: int | None, is_array: bool, kind: str, nullable: bool) -> str:
    front = "" if tag is None else f"~{tag}:"
    return f"{front}{name}:{'[]' if is_array else ''}{kind}{'?' if nullable else ''}"


class Release:
    """Apache's field lists of one release: messages by key and direction, structs inside bytes by name."""

    def __init__(self, name: str) -> None:
        self.messages: dict[tuple[int, str], dict[str, Any]] = {}
        self.structs: dict[str, dict[str, Any]] = {}
        for message in messages(name):
            if message["type"] in ("request", "response") and message["validVersions"] != "none":
                self.messages[message["apiKey"], message["type"]] = message
            if message["type"] == "data":
                self.structs[message["name"]] = message

    def versions(self, key: int, direction: str) -> Span | None:
        message = self.messages.get((key, direction))
        return None if message is None else versions_of(message)

    def layout(self, key: int, direction: str, version: int) -> str:
        return layout_of(self.messages[key, direction], version)

    def fields(self, key: int, direction: str) -> dict[str, dict[str, Any]]:
        return fields_of(self.messages[key, direction])


def versions_of(message: dict[str, Any]) -> Span:
    return span(message["validVersions"], "validVersions")


def layout_of(message: dict[str, Any], version: int) -> str:
    flexible = version in _span(message["flexibleVersions"])
    text = _apache_fields(message["fields"], version, _common(message))
    return f"flexible {text}" if flexible else text


def fields_of(message: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Path of a field -> its entry."""
    found = {}

    def below(entries: list[dict[str, Any]], prefix: str) -> None:
        for entry in entries:
            path = prefix + snake(entry["name"])
            found[path] = entry
            below(_inner(entry, _common(message)), f"{path}[]." if entry["type"].startswith("[]") else f"{path}.")

    below(message["fields"], "")
    return found


def _common(message: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return {struct["name"]: struct["fields"] for struct in message.get("commonStructs", ())}


def _span(text: str | None) -> Span:
    return Span(OPEN + 1, OPEN) if text in (None, "none") else span(text, "field list")


def _inner(entry: dict[str, Any], common: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return entry.get("fields") or common.get(entry["type"].removeprefix("[]"), [])


def _apache_fields(entries: list[dict[str, Any]], version: int, common: dict[str, list[dict[str, Any]]]) -> str:
    present = []
    for entry in entries:
        if version not in _span(entry["versions"]):
            continue
        tag = entry["tag"] if version in _span(entry.get("taggedVersions")) else None
        inner = _inner(entry, common)
        name = entry["type"].removeprefix("[]")
        kind = f"({_apache_fields(inner, version, common)})" if inner else name
        nullable = version in _span(entry.get("nullableVersions"))
        line = _line(snake(entry["name"]), tag, entry["type"].startswith("[]"), kind, nullable)
        present.append((-1 if tag is None else tag, line))
    present.sort(key=lambda pair: pair[0])
    return " ".join(line for _, line in present)
