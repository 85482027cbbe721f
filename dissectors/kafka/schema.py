"""The schema language: one text file per API in `schemas/`, a line per field, every version since 0.

    api ListOffsets  key 2  versions 0-11  flexible 6+  gone 0 in 4.0

    request                                          # at which offset does a moment in time lie?
      replica_id               int32                 # -1 from a consumer
      topics                   []
        name                   string        @topic

A field line is `name type[?] [versions] [tag N] [@role ...] [= default] [# our own words]`, in this order; two spaces
of indent nest it. Types are the primitives of `wire`, `{}` (a struct of the lines below), `[]` (an array of such
structs) and `[]int32` (an array of a primitive). `?` is nullable in every version, `?7+` or `?2-7` in those. A field
without versions exists in all versions in which its struct does. A file is read on first use; what it says is never
changed afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

OPEN = 32767

PRIMITIVES = "bool int8 int16 uint16 int32 uint32 int64 float64 string bytes records uuid"

# What a field may mean to the analysis: the first three mark arrays (whose elements become rows, count as topics, count
# as partitions), the fourth an array of what leaves a fetch session, all others single values. @secret is never shown,
# @secret_by_name not when the `name` beside it looks like that of a password.
ROLES = """
    row topics partitions forgotten
    topic topic_id partition entity
    error throttle records count
    secret secret_by_name
    group member generation transactional_id
    offset high_watermark last_stable_offset log_start_offset leader_epoch timestamp preferred_read_replica
    replica_id acks max_wait min_bytes isolation_level session_id session_epoch timeout
    software_name software_version mechanism
    broker producer_id producer_epoch
"""

_PRIMITIVES = frozenset(PRIMITIVES.split())
_ROLES = frozenset(ROLES.split())


class SchemaError(ValueError):
    """A schema file that does not follow the language; the message begins with file:line."""


@dataclass(frozen=True, slots=True)
class Span:
    """Versions `first` to `last`, both included; `last` is 32767 where the text says `4+`."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last

    def __str__(self) -> str:
        if self.last == OPEN:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a schema file.

    `type` is a primitive or "struct"; `fields` are those of a struct; `is_array` makes it an array of `type`.
    `nullable`: the versions in which null is expected. A field with a `tag` is written in the tagged section, in its
    `versions`. `level` is the level of an error that its line gives (`@error(group)`); None: it follows from where the
    field stands (`roles.error_levels`). `default` is the text after "="; None: the zero of the type. `number` is unique
    in the message, from 0 in the order of the file.
    """

    name: str
    type: str
    is_array: bool
    versions: Span
    nullable: Span | None
    tag: int | None
    roles: tuple[str, ...]
    level: str | None
    default: str | None
    comment: str
    fields: tuple[Field, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Message:
    """Direction ("request" or "response") and the fields of one side of an API; `comment` is what its line says."""

    direction: str
    fields: tuple[Field, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Api:
    """One API key: every version that this project can read, removed ones (`gone`, in 4.0) included."""

    key: int
    name: str
    versions: Span
    flexible: Span | None
    gone: Span | None
    unstable: Span | None
    request: Message
    response: Message

    def message(self, direction: str) -> Message:
        return self.request if direction == "request" else self.response

    def is_flexible(self, version: int) -> bool:
        return self.flexible is not None and version in self.flexible


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of an API key without its schema: enough to read its headers.

    `versions` are those of Kafka 3.9.1 and 4.3.1 together; `flexible_from` is above all versions when none is flexible.
    """

    name: str
    versions: Span
    flexible_from: int


@dataclass(slots=True)
class _Line:
    """A line of the file without its comment, as far as indentation and words go."""

    number: int
    depth: int
    words: list[str]
    comment: str


def parse(text: str, file: str) -> Api:
    """The API that `text` describes; `file` is for messages. Raises SchemaError."""
    lines = _lines(text, file)
    if not lines:
        raise SchemaError(f"{file}:1: empty, wanted a line `api NAME  key N  versions A-B`")
    header = _header(lines[0], file)
    messages: dict[str, Message] = {}
    place = 1
    while place < len(lines):
        line = lines[place]
        direction = line.words[0]
        if line.depth or len(line.words) != 1 or direction not in ("request", "response") or direction in messages:
            raise SchemaError(
                f"{file}:{line.number}: wanted one `request` and one `response`, got {' '.join(line.words)!r}"
            )
        reader = _Reader(lines, place + 1, file, header)
        messages[direction] = Message(direction, reader.fields(1, header["versions"]), line.comment)
        place = reader.place
    for direction in ("request", "response"):
        if direction not in messages:
            raise SchemaError(f"{file}:{lines[-1].number}: no section `{direction}`")
    return Api(request=messages["request"], response=messages["response"], **header)


def _lines(text: str, file: str) -> list[_Line]:
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
        found.append(_Line(number, spaces // 2, words, comment.strip() if mark else ""))
    return found


def _header(line: _Line, file: str) -> dict:
    """Of `api NAME key N versions A-B [flexible C+] [gone D in 4.0] [unstable E]`: the arguments of Api."""
    where = f"{file}:{line.number}"
    words = iter(line.words)
    if next(words) != "api" or line.depth:
        raise SchemaError(f"{where}: wanted `api NAME  key N  versions A-B`")
    found: dict = {"name": next(words, ""), "flexible": None, "gone": None, "unstable": None}
    for word in words:
        value = next(words, "")
        if word == "key" and value.isdigit():
            found["key"] = int(value)
        elif word in ("versions", "flexible", "gone", "unstable"):
            found[word] = span(value, where)
        elif (word, value) != ("in", "4.0"):
            raise SchemaError(f"{where}: {word!r} {value!r} is nothing that an api line says")
    if not found["name"] or "key" not in found or "versions" not in found:
        raise SchemaError(f"{where}: wanted `api NAME  key N  versions A-B`")
    if found["versions"].last == OPEN:
        raise SchemaError(f"{where}: the versions of an api have an end")
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


class _Reader:
    """Reads the field lines of one message; `place` is the first line that is not yet read."""

    def __init__(self, lines: list[_Line], place: int, file: str, header: dict) -> None:
        self.lines = lines
        self.place = place
        self.file = file
        self.api_versions: Span = header["versions"]
        self.flexible: Span | None = header["flexible"]
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

    def field(self, line: _Line, around: Span) -> Field:
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
        roles, level = self.roles(rest, where)
        default = self.default(rest, where)
        if rest.peek():
            raise SchemaError(f"{where}: {rest.peek()!r} is not understood here")
        if versions.first not in self.api_versions or (
            versions.last != OPEN and versions.last not in self.api_versions
        ):
            raise SchemaError(f"{where}: versions {versions} reach beyond {self.api_versions} of the api")
        if tag is not None and (self.flexible is None or versions.first not in self.flexible):
            raise SchemaError(f"{where}: tagged in versions {versions}, but flexible is {self.flexible}")
        inner: tuple[Field, ...] = ()
        if kind == "struct":
            inner = self.fields(line.depth + 1, versions)
            if not inner:
                raise SchemaError(f"{where}: a struct without fields")
        return Field(
            words[0], kind, is_array, versions, nullable, tag, roles, level, default, line.comment, inner, number
        )

    def type(self, text: str, where: str) -> tuple[str, bool, Span | None]:
        """The type, whether it is an array of that, and the versions in which it may be null."""
        name, mark, when = text.partition("?")
        nullable = None
        if mark:
            nullable = span(when, where) if when else self.api_versions
        if name in ("[]", "{}"):
            return "struct", name == "[]", nullable
        is_array = name.startswith("[]")
        name = name.removeprefix("[]")
        if name not in _PRIMITIVES:
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

    def roles(self, rest: _Words, where: str) -> tuple[tuple[str, ...], str | None]:
        """The roles, and the level that an `@error(level)` gives."""
        roles = []
        level = None
        while rest.peek().startswith("@"):
            role = rest.take()[1:]
            if role.startswith("error(") and role.endswith(")"):
                role, level = "error", role[6:-1]
            if role not in _ROLES:
                raise SchemaError(f"{where}: @{role} is no role")
            roles.append(role)
        return tuple(roles), level

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


@cache
def _files() -> dict[int, object]:
    """Key -> the schema file of each API that has one; the key is the number that the file name begins with."""
    from importlib.resources import files  # 8 ms: only when a schema is wanted

    folder = files("dissectors.kafka").joinpath("schemas")
    return {int(item.name[:3]): item for item in folder.iterdir() if item.name.endswith(".kafka")}


@cache
def api(key: int) -> Api | None:
    """The schema of an API key, read on first use; None: no schema yet. Raises SchemaError."""
    item = _files().get(key)
    if item is None:
        return None
    return parse(item.read_text(encoding="utf-8"), f"schemas/{item.name}")  # type: ignore[attr-defined]


def readable_keys() -> list[int]:
    """The API keys that have a schema file, ascending."""
    return sorted(_files())


@cache
def known_keys() -> dict[int, Key]:
    """Every API key that Kafka has had up to 4.3.1, ascending, with or without a schema file."""
    from importlib.resources import files

    text = files("dissectors.kafka").joinpath("api_keys.tsv").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines()[1:]:
        key, name, first, last, flexible = line.split("\t")
        flexible_from = int(flexible) if flexible != "-" else OPEN + 1
        found[int(key)] = Key(name, Span(int(first), int(last)), flexible_from)
    return found


def api_names() -> list[tuple[int, str]]:
    """(key, name) of every known key, ascending."""
    return [(key, known.name) for key, known in known_keys().items()]
