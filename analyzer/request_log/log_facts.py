"""Facts of logged bodies: what they say of clusters, topics, groups and transactions, in the raw tables that packets fill too."""

from __future__ import annotations

import json
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.ingest.facts import clusters, heartbeats, transactions
from analyzer.ingest.facts.fact_columns import take_table
from analyzer.ingest.facts.fact_kinds import FactKind, Message, Row, SeenExchange
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.ingest.facts.groups import ClassicGroups
from dissectors.kafka.columns.field_program import Wanted
from dissectors.kafka.columns.field_reader import wanted_fields
from dissectors.kafka.columns.frame_picker import FactRows
from dissectors.kafka.logged.log_rows import MalformedBody
from dissectors.kafka.logged.object_plan import BITS, camel
from dissectors.kafka.schema import lookup
from dissectors.kafka.schema.fields import Field

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a table that are collected before they go to its file.
_ROWS = 16_384
# Bodies that are remembered. With more, all are forgotten, and written again under other numbers.
_MOST_BODIES = 20_000
_MOST_FIELDS = 1_024
_REPORTED = "reported"
# Values that say "none" where they are not there.
_NONE = {"bytes", "records", "string", "uuid"}


class Told(NamedTuple):
    """An exchange with its bodies as JSON, None: it has none that can be read. `is_text`: names are those of text."""

    key: int
    version: int
    begin_ns: int
    end_ns: int
    request: bytes | None
    response: bytes | None
    is_text: bool


class LogFacts:
    """Reads facts of logged exchanges. `write` takes the name of a raw table and rows of it. Logins are in no log of requests."""

    def __init__(self, write: Callable[[str, pa.Table], None]) -> None:
        self._write = write
        self._kinds: dict[int, list[FactKind]] = {}
        for kind in (*clusters.KINDS, *ClassicGroups().kinds(), *heartbeats.KINDS, *transactions.KINDS):
            self._kinds.setdefault(kind.key, []).append(kind)
        self._rows = {name: FactRows() for name in FACT_TABLES if name not in (_REPORTED, "batches")}
        self._reported: list[tuple[int, int, int, int]] = []
        self._bodies: set[int] = set()
        self._known: dict[bytes, int | None] = {}
        self._generation = 0

    def keys(self) -> frozenset[int]:
        """The APIs whose messages have facts."""
        return frozenset(self._kinds)

    def take(self, exchange: int, part: int, found: Told) -> None:
        """Takes an exchange. A body that is not as its schema says gives none."""
        key, version = found.key, found.version
        objects: dict[str, Any] = {}
        for kind in self._kinds[key]:
            if not kind.by_body:
                objects = objects or {side: _object(found, side) for side in ("request", "response")}
                asked, told = (_message(kind, version, side, found, body) for side, body in objects.items())
                seen = SeenExchange(part, version, asked, told, found.begin_ns, found.end_ns, "answered")
                for name, values in kind.read(seen):
                    self._rows[name].add(exchange, part, values)
                    if self._rows[name].rows >= _ROWS:
                        self._write(name, take_table(name, self._rows[name]))
                continue
            side = "request" if kind.reply is None else "response"
            if (body := self._body(kind, version, side, found)) is not None:
                self._reported.append((exchange, part, body, found.begin_ns if side == "request" else found.end_ns))
                if len(self._reported) >= _ROWS:
                    self._flush_reported()

    def finish(self) -> None:
        """Writes the last rows."""
        for name, rows in self._rows.items():
            if rows.rows:
                self._write(name, take_table(name, rows))
        self._flush_reported()

    def _body(self, kind: FactKind, version: int, side: str, found: Told) -> int | None:
        """The number of the facts of a body: equal facts have one number and are written once. None: it has none."""
        body: bytes | None = getattr(found, side)
        if body is None:
            return None
        if len(self._known) >= _MOST_BODIES:
            self._bodies.clear()
            self._known.clear()
            self._generation += 1
        which = blake2b(b"%d %d %b " % (kind.key, version, side.encode()) + body, digest_size=16).digest()
        if which not in self._known:
            told = _message(kind, version, side, found, _object(found, side))
            seen = SeenExchange(0, version, told if side == "request" else None, told if side == "response" else None)
            rows = list(kind.read(seen))
            self._known[which] = self._written(rows) if rows else None
        return self._known[which]

    def _written(self, found: list[Row]) -> int:
        text = repr((self._generation, found)).encode("utf-8", "backslashreplace")
        body = int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
        if body not in self._bodies:
            self._bodies.add(body)
            for name, values in found:
                self._rows[name].add(body, 0, values)
        return body

    def _flush_reported(self) -> None:
        import pyarrow as pa

        if self._reported:
            columns = [pa.array(column, pa.int64()) for column in zip(*self._reported, strict=True)]
            self._write(_REPORTED, pa.table(columns, [name for name, _ in FACT_TABLES[_REPORTED]]))
            self._reported = []


def _object(found: Told, side: str) -> Any:
    """A body as an object; None: there is none that can be read."""
    body: bytes | None = getattr(found, side)
    return None if body is None else json.loads(body)


def _message(kind: FactKind, version: int, side: str, found: Told, body: Any) -> Message | None:
    """The fields of a body that a kind reads, by the names of the schema. None: it reads none, or they cannot be read."""
    fields = _fields_of(kind, side, version, found.is_text)
    if type(body) is not dict or fields is None:
        return None
    try:
        return Message(_struct(fields, body), True)
    except (MalformedBody, RecursionError):
        return None


class _Asked(NamedTuple):
    """A field that is read: its name in the schema and in the log. `may_lack`: without a value it is None, else left out. Whole
    numbers are below `limit`, and not below its negative; 0: it is no number."""

    name: str
    called: str
    type: str
    is_array: bool
    may_lack: bool
    limit: int
    inner: tuple[_Asked, ...]


@lru_cache(_MOST_FIELDS)
def _fields_of(kind: FactKind, side: str, version: int, is_text: bool) -> tuple[_Asked, ...] | None:
    """The fields that a kind reads of a version. None: it reads none, or no schema knows the version."""
    text, api = kind.request if side == "request" else kind.reply, lookup.api(kind.key)
    if text is None or api is None or version not in api.versions:
        return None
    return _asked(api.message(side).fields, version, wanted_fields(text.replace("!", "")), str if is_text else camel)


def _asked(fields: tuple[Field, ...], version: int, wanted: Wanted, named: Callable[[str], str]) -> tuple[_Asked, ...]:
    return tuple(
        _Asked(
            field.name,
            named(field.name),
            field.type,
            field.is_array,
            field.is_array or field.type in _NONE or field.tag is None,
            0 if field.type == "struct" or field.type in _NONE else 1 << BITS.get(field.type, 0),
            _asked(field.fields, version, wanted[field.name], named),
        )
        for field in fields
        if field.name in wanted and version in field.versions
    )


def _struct(fields: tuple[_Asked, ...], body: dict[str, Any]) -> dict[str, Any]:
    if type(body) is not dict:
        raise MalformedBody
    found: dict[str, Any] = {}
    for field in fields:
        name, called, _, is_array, may_lack, limit, _ = field
        value = body.get(called)
        if value is None:
            if may_lack:
                found[name] = None
        elif is_array:
            if type(value) is not list:
                raise MalformedBody
            found[name] = [_value(field, each) for each in value]
        else:
            found[name] = value if type(value) is int and -limit <= value < limit else _value(field, value)
    return found


def _value(field: _Asked, value: Any) -> Any:
    if field.type == "struct":
        return _struct(field.inner, value)
    if field.type in _NONE:
        return _of_text(field.type, value)
    if field.type == "bool" and type(value) is bool:
        return value
    if type(value) is not int or not -field.limit <= value < field.limit:
        if field.type == "float64":
            return None
        raise MalformedBody
    return value


def _of_text(kind: str, value: Any) -> Any:
    """A text; bytes, which JSON has in base64; a uuid. None: bytes that the log leaves out."""
    if kind == "string" and type(value) is int:
        return str(value)
    if kind == "records":
        return None
    if type(value) is not str:
        raise MalformedBody
    if kind == "string":
        return value[: 1 << 15].encode("utf-8", "replace").decode()
    try:
        return urlsafe_b64decode(f"{value}==") if kind == "uuid" else b64decode(value, validate=True)
    except ValueError:
        raise MalformedBody from None
