"""The lines of a schema file: what nests in what, version spans, and fields. `schema_files` says what they look like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dissectors.kafka.schema.fields import OPEN, PRIMITIVES, ROLES, Field, SchemaError, Span

# A role that says something more: what an error is about, what bytes hold.
_ROLE_OF = re.compile(r"(error|embedded)\((\w+)\)")


@dataclass(slots=True)
class Line:
    """A line of the file without its comment, as far as indentation and words go."""

    number: int
    depth: int
    words: list[str]
    comment: str


def lines_of(text: str, file: str) -> list[Line]:
    """The lines that say something; two spaces are one level."""
    found = []
    for number, raw in enumerate(text.split("\n"), 1):
        code, mark, comment = raw.partition("#")
        words = code.split()
        if not words:
            continue
        if "\t" in code:
            raise SchemaError(f"{file}:{number}: a tab; wanted spaces")
        spaces = len(code) - len(code.lstrip(" "))
        if spaces % 2:
            raise SchemaError(f"{file}:{number}: indent of {spaces} spaces; wanted two per level")
        found.append(Line(number, spaces // 2, words, comment.strip() if mark else ""))
    return found


def span(text: str, where: str) -> Span:
    """`4+`, `0` or `2-5` as a Span."""
    first, dash, last = text.partition("-")
    if text.endswith("+") and text[:-1].isdigit():
        return Span(int(text[:-1]), OPEN)
    if first.isdigit() and (last.isdigit() if dash else not last):
        found = Span(int(first), int(last) if dash else int(first))
        if found.first <= found.last:
            return found
    raise SchemaError(f"{where}: {text!r} is no version span like 4+, 0 or 2-5")


class FieldReader:
    """Reads the field lines of one message; `place` is the first line that is not yet read."""

    def __init__(self, lines: list[Line], place: int, file: str, versions: Span, flexible: Span | None) -> None:
        self.lines = lines
        self.place = place
        self.file = file
        self.all_versions = versions
        self.flexible = flexible
        self.numbers = 0

    def fields(self, depth: int, around: Span) -> tuple[Field, ...]:
        """The fields at `depth`; `around` are the versions of the struct that holds them."""
        found: list[Field] = []
        names = set()
        while self.place < len(self.lines) and self.lines[self.place].depth >= depth:
            line = self.lines[self.place]
            if line.depth > depth:
                raise SchemaError(f"{self.file}:{line.number}: nested too deep, or below a field that is no struct")
            self.place += 1
            field = self.field(line, around)
            if field.name in names:
                raise SchemaError(f"{self.file}:{line.number}: a second {field.name!r} in this struct")
            names.add(field.name)
            found.append(field)
        return tuple(found)

    def field(self, line: Line, around: Span) -> Field:
        where = f"{self.file}:{line.number}"
        words = line.words
        if len(words) < 2:
            raise SchemaError(f"{where}: wanted `name type`, got {words[0]!r}")
        number = self.numbers
        self.numbers += 1
        kind, is_array, nullable = self.type(words[1], where)
        rest = _Words(words[2:])
        versions = span(rest.take(), where) if rest.peek()[:1].isdigit() else around
        tag = self.tag(rest, where)
        roles, details = self.roles(rest, where)
        embedded = details.get("embedded")
        default = self.default(rest, where)
        if rest.peek():
            raise SchemaError(f"{where}: {rest.peek()!r} is not understood here")
        if versions.first not in self.all_versions or (
            versions.last != OPEN and versions.last not in self.all_versions
        ):
            raise SchemaError(f"{where}: versions {versions} reach beyond {self.all_versions}, all there are")
        if tag is not None and (self.flexible is None or versions.first not in self.flexible):
            raise SchemaError(f"{where}: tagged in versions {versions}, but flexible is {self.flexible}")
        inner: tuple[Field, ...] = ()
        if kind == "struct":
            inner = self.fields(line.depth + 1, versions)
            if not inner:
                raise SchemaError(f"{where}: a struct without fields")
        if ("embedded" in roles) != (embedded is not None) or (embedded is not None and kind != "bytes"):
            raise SchemaError(f"{where}: wanted bytes and what they hold, like `bytes @embedded(request)`")
        return Field(
            name=words[0],
            type=kind,
            is_array=is_array,
            versions=versions,
            nullable=nullable,
            tag=tag,
            roles=roles,
            level=details.get("error"),
            default=default,
            comment=line.comment,
            fields=inner,
            number=number,
            embedded=embedded,
        )

    def type(self, text: str, where: str) -> tuple[str, bool, Span | None]:
        """The type, whether it is an array of that, and the versions in which it may be null."""
        name, mark, when = text.partition("?")
        nullable = None
        if mark:
            nullable = span(when, where) if when else self.all_versions
        if name in ("[]", "{}"):
            return "struct", name == "[]", nullable
        is_array = name.startswith("[]")
        name = name.removeprefix("[]")
        if name not in PRIMITIVES:
            raise SchemaError(f"{where}: {text!r} is no type")
        if mark and not is_array and name not in ("string", "bytes", "records"):
            raise SchemaError(f"{where}: {name} has no null")
        return name, is_array, nullable

    def tag(self, rest: _Words, where: str) -> int | None:
        if rest.peek() != "tag":
            return None
        rest.take()
        number = rest.take()
        if not number.isdigit():
            raise SchemaError(f"{where}: wanted a number after `tag`, got {number!r}")
        return int(number)

    def roles(self, rest: _Words, where: str) -> tuple[tuple[str, ...], dict[str, str]]:
        """The roles, and what is in brackets behind some of them."""
        roles = []
        details = {}
        while rest.peek().startswith("@"):
            role = rest.take()[1:]
            more = _ROLE_OF.fullmatch(role)
            if more is not None:
                role = more[1]
                details[role] = more[2]
            if role not in ROLES:
                raise SchemaError(f"{where}: @{role} is no role")
            roles.append(role)
        return tuple(roles), details

    def default(self, rest: _Words, where: str) -> str | None:
        if rest.peek() != "=":
            return None
        rest.take()
        if not rest.peek():
            raise SchemaError(f"{where}: nothing after `=`")
        return rest.take()


class _Words:
    """The words of a line that are still to be understood."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.place = 0

    def peek(self) -> str:
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.place += 1
        return word
