"""Schemas as text for `kanalyze schema`: BNF-like, as Kafka's protocol guide writes them.

    Heartbeat Request (Version: 4) => group_id generation_id member_id group_instance_id _tagged_fields
      group_id => COMPACT_STRING
      ...

`[name]` is an array, `name<tag:0>` a tagged field. Without a version the lines are those of all versions together, each
with its own; types are then those of versions that are not flexible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from dissectors.kafka.schema import headers, lookup
from dissectors.kafka.schema.lookup import Api, EmbeddedSchema, Field, Message, Span

WIDTH = 110
# Where what is said of a field begins, unless its line is longer.
COLUMN = 46


def names() -> dict[str, int | str]:
    """What `layout` takes, by what a user may call it in small letters: an API's key or an embedded struct's file."""
    known = lookup.known_keys()
    found: dict[str, int | str] = {known[key].name.lower(): key for key in lookup.readable_keys()}
    found |= {str(key): key for key in lookup.readable_keys()}
    return found | {lookup.embedded(each).name.lower(): each for each in lookup.embedded_names()}


def title(key: int | str) -> str:
    """The name as Kafka writes it."""
    return lookup.known_keys()[key].name if isinstance(key, int) else lookup.embedded(key).name


def has_version(key: int | str, version: int) -> bool:
    """Whether the schema of `key` covers this version."""
    return version in _schema(key).versions


def listing() -> Iterator[str]:
    """A line per API: key, name, versions; then a line per struct inside bytes."""
    for key in lookup.readable_keys():
        yield f"{key:>3}  {title(key):<30} versions {_history(_api(key))}"
    yield ""
    yield "Inside bytes fields and control records:"
    for name in lookup.embedded_names():
        found = lookup.embedded(name)
        yield f"     {found.name:<30} versions {found.versions}"


def layout(key: int | str, version: int | None) -> Iterator[str]:
    """Both messages of an API, or one struct; of all versions, or of one."""
    if isinstance(key, str):
        yield from _embedded(lookup.embedded(key), version)
        return
    api = _api(key)
    yield f"{api.name}, key {key}, versions {_history(api)}"
    for message in (api.request, api.response):
        yield ""
        if message.comment:
            yield f"# {message.comment}"
        name = f"{api.name} {message.direction.capitalize()} ({_which(api, version, message)})"
        yield from _Layout(api, version).lines(name, message.fields)
    if version is None and api.flexible is not None:
        yield ""
        yield f"In versions {api.flexible} lengths are compact and structs end with _tagged_fields."


def _embedded(found: EmbeddedSchema, version: int | None) -> Iterator[str]:
    yield f"{found.name}, versions {_history(found)}"
    yield ""
    if found.comment:
        yield f"# {found.comment}"
    place = ", after the version as INT16" if found.has_prefix else ""
    which = f"Versions: {found.versions}" if version is None else f"Version: {version}"
    yield from _Layout(found, version).lines(f"{found.name} ({which}{place})", found.fields)


def _history(found: Api | EmbeddedSchema) -> str:
    words = [str(found.versions)]
    if found.flexible is not None:
        words.append(f"flexible {found.flexible}")
    if isinstance(found, Api) and found.gone is not None:
        words.append(f"{'all' if found.gone == found.versions else found.gone} removed in {found.gone_in}")
    if isinstance(found, Api) and found.unstable is not None:
        words.append(f"{found.unstable} unstable")
    return ", ".join(words)


def _which(api: Api, version: int | None, message: Message) -> str:
    if version is None:
        return f"Versions: {api.versions}"
    rule = headers.request_version if message is api.request else headers.response_version
    removed = f", removed in {api.gone_in}" if api.gone is not None and version in api.gone else ""
    return f"Version: {version}, header v{rule(api.key, version)}{removed}"


class _Layout:
    """The lines of a message or struct, of one version or (None) of all."""

    def __init__(self, found: Api | EmbeddedSchema, version: int | None) -> None:
        self.schema = found
        self.version = version
        self.flexible = found.flexible is not None if version is None else found.is_flexible(version)

    def lines(self, name: str, fields: Sequence[Field]) -> Iterator[str]:
        yield from self._wrapped(f"{name} => {self.members(fields)}", 0, [])
        yield from self.below(fields, 1, self.schema.versions)

    def below(self, fields: Sequence[Field], depth: int, around: Span) -> Iterator[str]:
        """The lines of fields in a struct that exists in the versions `around`."""
        for field in self.present(fields):
            right = self.members(field.fields) if field.type == "struct" else self.type(field)
            tag = "" if field.tag is None else f"<tag:{field.tag}>"
            yield from self._wrapped(f"{field.name}{tag} => {right}", depth, [*self.details(field, around)])
            yield from self.below(field.fields, depth + 1, field.versions)

    def present(self, fields: Sequence[Field]) -> list[Field]:
        """Tagged fields come last, as on the wire."""
        found = [field for field in fields if self.version is None or self.version in field.versions]
        return sorted(found, key=lambda field: field.tag is not None)

    def members(self, fields: Sequence[Field]) -> str:
        words = []
        for field in self.present(fields):
            word = f"[{field.name}]" if field.is_array else field.name
            words.append(word if field.tag is None else f"{word}<tag:{field.tag}>")
        return " ".join([*words, "_tagged_fields"] if self.flexible else words)

    def type(self, field: Field) -> str:
        """A primitive by its name in the protocol guide. That an array may be null is said in `details`."""
        if field.type not in ("string", "bytes", "records"):
            return "BOOLEAN" if field.type == "bool" else field.type.upper()
        nullable = "NULLABLE_" if field.type != "records" and not field.is_array and self.is_nullable(field) else ""
        compact = "COMPACT_" if self.flexible and self.version is not None else ""
        return f"{compact}{nullable}{field.type.upper()}"

    def is_nullable(self, field: Field) -> bool:
        """Whether null is expected: in this version, or in all in which the field exists."""
        if field.nullable is None:
            return False
        if self.version is not None:
            return self.version in field.nullable
        return field.nullable.first <= field.versions.first and field.nullable.last >= self.last(field)

    def details(self, field: Field, around: Span) -> Iterator[str]:
        """What follows the type: versions, null, default, what the bytes hold, removal, our words."""
        if self.version is None:
            yield f"{'' if field.versions == around else str(field.versions):<5}"
        if self.is_nullable(field):
            if field.is_array or field.type == "struct":
                yield "nullable"
        elif field.nullable is not None and self.version is None:
            yield f"nullable {field.nullable}"
        if field.default is not None:
            yield f"= {field.default}"
        if field.embedded is not None:
            frame = field.embedded in ("request", "response")
            yield f"holds a {field.embedded}" if frame else f"holds {lookup.embedded(field.embedded).name}"
        yield from self.removal(field)
        if field.comment:
            yield f"# {field.comment}"

    def removal(self, field: Field) -> Iterator[str]:
        """Says so when a field exists only in removed versions, of an API that has others."""
        found = self.schema
        if self.version is not None or not isinstance(found, Api) or found.gone in (None, found.versions):
            return
        assert found.gone is not None
        if field.versions.first in found.gone and self.last(field) in found.gone:
            yield f"removed in {found.gone_in}"

    def last(self, field: Field) -> int:
        return min(field.versions.last, self.schema.versions.last)

    def _wrapped(self, text: str, depth: int, details: Sequence[str]) -> Iterator[str]:
        indent = "  " * depth
        margins = {"initial_indent": indent, "subsequent_indent": indent + " " * 8}
        *above, last = wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False, **margins)  # type: ignore[arg-type]
        yield from above
        if len(last) <= COLUMN:
            yield f"{last:<{COLUMN}}  {'  '.join(details)}".rstrip()
        else:
            yield "  ".join([last, *(each.strip() for each in details if each.strip())])


def _schema(key: int | str) -> Api | EmbeddedSchema:
    return lookup.embedded(key) if isinstance(key, str) else _api(key)


def _api(key: int) -> Api:
    api = lookup.api(key)
    assert api is not None  # callers take keys from `names`
    return api
