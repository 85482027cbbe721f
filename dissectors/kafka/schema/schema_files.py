"""The schema language: one text file per API in `definitions/`, a line per field, every version since 0.

    api ListOffsets  key 2  versions 0-11  flexible 6+  gone 0 in 4.0

    request                                          # at which offset does a moment in time lie?
      replica_id               int32                 # -1 from a consumer
      topics                   []
        name                   string        @topic

A field line is `name type[?] [versions] [tag N] [@role ...] [= default] [# our own words]`, in this order; two spaces
of indent nest it. Types are the primitives of `wire`, `{}` (a struct of the lines below), `[]` (an array of such
structs) and `[]int32` (an array of a primitive). `?` is nullable in every version, `?7+` or `?2-7` in those. A field
without versions exists in all versions in which its struct does.

`definitions/embedded/` has the structs that are inside bytes; `metadata bytes @embedded(subscription)`
says where, by the name of the file:

    struct ConsumerProtocolSubscription  versions 0-3  newer 3  prefix int16  protocol consumer
      topics                   []string

`newer 3`: a newer version is read as 3, the rest ignored. `prefix int16`: the version precedes the fields (without
it, it is the first of them). `protocol`: only in groups of that protocol type, which the nearest @protocol_type tells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dissectors.kafka.schema.field_lines import FieldReader, Line, lines_of, span
from dissectors.kafka.schema.fields import OPEN, Api, EmbeddedSchema, Message, SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable


def parse(text: str, file: str) -> Api:
    """The API that `text` describes; `file` is for messages. Raises SchemaError."""
    lines = lines_of(text, file)
    header = _header(lines, file, "api", ("key", "versions"))
    messages: dict[str, Message] = {}
    place = 1
    while place < len(lines):
        line = lines[place]
        direction = line.words[0]
        if line.depth or len(line.words) != 1 or direction not in ("request", "response") or direction in messages:
            raise SchemaError(
                f"{file}:{line.number}: wanted one `request` and one `response`, got {' '.join(line.words)!r}"
            )
        reader = FieldReader(lines, place + 1, file, header["versions"], header.get("flexible"))
        messages[direction] = Message(direction, reader.fields(1, header["versions"]), line.comment)
        place = reader.place
    for direction in ("request", "response"):
        if direction not in messages:
            raise SchemaError(f"{file}:{lines[-1].number}: no section `{direction}`")
    return Api(
        key=header["key"],
        name=header["name"],
        versions=header["versions"],
        flexible=header.get("flexible"),
        gone=header.get("gone"),
        gone_in=header.get("in"),
        unstable=header.get("unstable"),
        request=messages["request"],
        response=messages["response"],
    )


def parse_embedded(text: str, file: str) -> EmbeddedSchema:
    """The struct that a file of `definitions/embedded` describes. Raises SchemaError."""
    lines = lines_of(text, file)
    header = _header(lines, file, "struct", ("versions",))
    versions = header["versions"]
    reader = FieldReader(lines, 1, file, versions, header.get("flexible"))
    fields = reader.fields(1, versions)
    if reader.place < len(lines):
        raise SchemaError(f"{file}:{lines[reader.place].number}: a file holds one struct")
    if "prefix" not in header and (not fields or fields[0].type != "int16"):
        raise SchemaError(f"{file}:1: neither `prefix int16` nor a first field that could be the version")
    return EmbeddedSchema(
        name=header["name"],
        versions=versions,
        flexible=header.get("flexible"),
        reads_newer="newer" in header,
        has_prefix="prefix" in header,
        protocol=header.get("protocol"),
        fields=fields,
        comment=lines[0].comment,
    )


def _header(lines: list[Line], file: str, kind: str, needed: tuple[str, ...]) -> dict[str, Any]:
    """What the first line says: `name`, and by their words what is behind these.

    `api NAME key N versions A-B [flexible C+] [gone D in 4.0] [unstable E]`, or
    `struct NAME versions A-B [flexible C+] [newer B] [prefix int16] [protocol P]`.
    """
    wanted = " ".join(["NAME", *(f"{word} {'N' if word == 'key' else 'A-B'}" for word in needed)])
    if not lines:
        raise SchemaError(f"{file}:1: empty, wanted a line `{kind} {wanted}`")
    where = f"{file}:{lines[0].number}"
    words = iter(lines[0].words)
    if next(words) != kind or lines[0].depth:
        raise SchemaError(f"{where}: wanted `{kind} {wanted}`")
    found: dict[str, Any] = {"name": next(words, "")}
    for word in words:
        value = next(words, "")
        read = _HEADERS[kind].get(word)
        if read is None or word in found:
            raise SchemaError(f"{where}: {word!r} {value!r} is nothing that a line `{kind}` says here")
        found[word] = read(value, where)
    if not found["name"] or any(word not in found for word in needed):
        raise SchemaError(f"{where}: wanted `{kind} {wanted}`")
    if found["versions"].last == OPEN:
        raise SchemaError(f"{where}: the versions of {kind} {found['name']} have an end")
    if ("gone" in found) != ("in" in found):
        raise SchemaError(f"{where}: wanted `gone 0-1 in 4.0`, both or neither")
    if found.get("newer", found["versions"].last) != found["versions"].last:
        raise SchemaError(f"{where}: newer versions are read as the last one, {found['versions'].last}")
    return found


def _number(text: str, where: str) -> int:
    if not text.isdigit():
        raise SchemaError(f"{where}: {text!r} is no number")
    return int(text)


def _matching(pattern: str, what: str) -> Callable[[str, str], str]:
    """A reader of words of one form."""

    def read(text: str, where: str) -> str:
        if not re.fullmatch(pattern, text):
            raise SchemaError(f"{where}: {text!r} is no {what}")
        return text

    return read


_HEADERS: dict[str, dict[str, Callable[[str, str], Any]]] = {
    "api": {
        "key": _number,
        "versions": span,
        "flexible": span,
        "gone": span,
        "in": _matching(r"\d+\.\d+", "release like 4.0"),
        "unstable": span,
    },
    "struct": {
        "versions": span,
        "flexible": span,
        "newer": _number,
        "prefix": _matching("int16", "prefix that is known"),
        "protocol": _matching(r"\w+", "protocol type"),
    },
}
