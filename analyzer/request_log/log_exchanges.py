"""Lines of a request log -> raw rows of exchanges, entries, errors, connections and facts, as packets would give them.

The broker's clock is the only one: a request was there `totalTimeMs` before its line was written, and its reply left in the
`sendTimeMs` before that. What only packets tell is unknown: sizes, the way, bytes, how a connection began and ended.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from analyzer.ingest import raw_tables, tls_facts
from analyzer.ingest.raw_writer import RawTable, Writer
from analyzer.ingest.row_matrix import RowMatrix
from analyzer.request_log.log_facts import LogFacts
from analyzer.request_log.log_lines import UNREAD, Body, Logged
from analyzer.request_log.log_reader import COLUMNS
from dissectors import layout
from dissectors.kafka.columns.wait_kinds import set_wait_kinds
from dissectors.kafka.logged.logged_rows import put_exchange, put_line, put_rows
from dissectors.kafka.logged.object_plan import plan
from dissectors.kafka.logged.object_values import BodyValues, MalformedBody, Names, Texts, no_values
from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix

MOST_ROWS = 16_384
MOST_TEXTS = 100_000
# Connections that are followed. With more, the half that was silent longest is written, as if they had ended: one that speaks again
# is another connection.
MOST_PARTS = 200_000
_NO_SIZES = (UNKNOWN,) * 4  # nor packets
# A line is an exchange of its own.
LOG_FIELDS = tuple(
    raw_tables.Field(name, at, "text" if kind == "string" else kind)
    for at, (name, kind) in enumerate((COLUMNS | {"exchange": "int64", "connection": "int64"}).items())
)
_GROWING = ("exchanges", "entries", "errors", "log_requests")
_TABLES = {
    "log_requests": (LOG_FIELDS, len(LOG_FIELDS)),
    "exchanges": (raw_tables.EXCHANGES, layout.ROW_COLUMNS),
    "entries": (raw_tables.ENTRIES, layout.ENTRY_COLUMNS + layout.LABEL_COLUMNS),
    "errors": (raw_tables.ERRORS, layout.ERROR_COLUMNS + layout.LABEL_COLUMNS),
    "parts": (raw_tables.PARTS, layout.PART_COLUMNS),
    "framed_parts": (raw_tables.FRAMED_PARTS, layout.FRAMING_COLUMNS),
    "tls": (tls_facts.FIELDS, len(tls_facts.FIELDS)),
    "problems": (raw_tables.PROBLEMS, layout.PROBLEM_COLUMNS),
    "queued": (raw_tables.QUEUED, layout.QUEUED_COLUMNS),
    "silences": (raw_tables.SILENCES, layout.SILENCE_COLUMNS),
}


class _Part:
    """A connection, as far as lines name it."""

    __slots__ = ("begin_ns", "connection", "end_ns", "ends", "is_tls", "number", "replies", "requests")

    def __init__(self, number: int, name: str, ends: Sequence[Any]) -> None:
        self.number = number
        self.connection = _hash(name)
        self.ends = ends
        self.begin_ns = self.end_ns = UNKNOWN
        self.requests = self.replies = 0
        self.is_tls = False


class LogExchanges:
    """Takes lines; raw tables grow in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._writer = Writer()
        self._tables = {
            name: (RawTable(self._writer.path(folder, name), fields, self._writer), columns)
            for name, (fields, columns) in _TABLES.items()
        }
        self._texts = Texts()
        self._asked, self._told = BodyValues(self._texts), BodyValues(self._texts)
        self._facts = LogFacts(lambda name, table: self._writer.write_table(self._writer.path(folder, name), table))
        self._with_facts = self._facts.keys()
        self.keys: set[int] = set()
        self._out = {name: RowMatrix(_TABLES[name][1], MOST_ROWS) for name in _GROWING}
        self._rows: dict[str, list[Sequence[int]]] = {name: [] for name in ("parts", "framed_parts", "tls")}
        self.dropped = False
        self._parts: dict[str, _Part] = {}
        self._part_numbers = 0
        self.turns = 0  # how often half of the connections were written
        self.unread = 0  # bodies

    def take(self, log: int, line: int, found: Logged) -> None:
        """Takes a line. One about a request that another broker forwarded is no exchange of a connection."""
        exchange = connection = None
        if not found.values[_FORWARDED]:
            part = self._parts.get(found.connection)
            if part is None:
                self._make_room()
                self._part_numbers += 1
                name = f"{found.connection} {self.turns}" if self.turns else found.connection
                part = _Part(self._part_numbers, name, found.values[1:5])
                part.is_tls = found.values[18] in ("SSL", "SASL_SSL")
                self._parts[found.connection] = part
            exchange, connection = self._exchange(part, found), part.connection
        lines = self._out["log_requests"]
        put_line(lines.matrix, lines.rows, (log, line, *found.values, exchange, connection), self._texts)
        lines.rows += 1
        if lines.rows == lines.size:
            self._flush_all()

    def _exchange(self, part: _Part, found: Logged) -> int:
        """Writes the rows of an exchange, and returns its id."""
        logged_ns, _, _, _, _, key, _, version, correlation, client, _, total_ns, _, _, _, _, _, send_ns, *_ = (
            found.values
        )
        begin_ns = logged_ns - total_ns
        self.keys.add(key)
        exchange = _hash(f"{found.connection} {correlation} {key} {logged_ns} {total_ns}")
        asked, asked_how = self._body(self._asked, found, key, version, "request")
        is_silent = key == 0 and asked[layout.VALUE_ACKS] == 0
        told, told_how = no_values(), layout.DECODED_NONE
        if not is_silent:
            told, told_how = self._body(self._told, found, key, version, "response")
        if client is not None:
            asked[layout.VALUE_CLIENT_ID] = self._texts.number(client)
        self._note_software(found, asked)
        ends = (UNKNOWN, UNKNOWN) if is_silent else (max(logged_ns - (send_ns or 0), begin_ns), logged_ns)
        status = layout.STATUS_NO_REPLY_EXPECTED if is_silent else layout.STATUS_ANSWERED
        head = (exchange, part.number, key, version, correlation, status, 0, begin_ns, begin_ns, *ends)
        out = self._out["exchanges"]
        put_exchange(out.matrix, out.rows, (*head, *_NO_SIZES, asked_how, told_how), asked, told)
        out.rows += 1
        self._add_rows(self._asked, exchange, (part.number, 0, key))
        if not is_silent:
            self._add_rows(self._told, exchange, (part.number, 1, key))
        if out.rows == out.size:
            self._flush("exchanges")
        if key in self._with_facts:
            self._facts.take(exchange, part.number, found, begin_ns)
        if begin_ns < part.begin_ns or part.begin_ns == UNKNOWN:
            part.begin_ns = begin_ns
        if logged_ns > part.end_ns:
            part.end_ns = logged_ns
        part.requests += 1
        part.replies += not is_silent
        return exchange

    def _body(self, into: BodyValues, found: Logged, key: int, version: int, direction: str) -> tuple[list[int], int]:
        """The values of a body, and how far it was read."""
        body: Body | None = getattr(found, direction)
        into.clear()
        if body is None:
            return no_values(), layout.DECODED_NONE
        if body is UNREAD:
            self.unread += 1
            return no_values(), layout.DECODED_HEADER
        if key == _API_VERSIONS and direction == "response" and _error(body) == 35:
            version = 0  # a refusal has this form whatever was asked
        steps = plan(key, version, direction, found.is_text)
        if steps is None:
            return no_values(), layout.DECODED_UNSUPPORTED
        try:
            into.read(steps, *body)
        except (MalformedBody, RecursionError):
            into.clear()
            self.unread += 1
            return no_values(), layout.DECODED_HEADER
        return into.values, layout.DECODED_FULL

    def _note_software(self, found: Logged, values: list[int]) -> None:
        """Brokers note beside each request the library that the connection named."""
        name, version = found.software
        if type(name) is type(version) is str and name != "unknown":
            values[layout.VALUE_SOFTWARE_NAME] = self._texts.number(name)
            values[layout.VALUE_SOFTWARE_VERSION] = self._texts.number(version)

    def _add_rows(self, body: BodyValues, exchange: int, label: tuple[int, int, int]) -> None:
        self.dropped = self.dropped or body.dropped
        for name, rows in (("entries", body.entries), ("errors", body.errors)):
            if not rows:
                continue
            at, out = 0, self._out[name]
            while at < len(rows):
                some = rows[at : at + out.size - out.rows]
                out.rows = put_rows(out.matrix, out.rows, some, exchange, label)
                at += len(some)
                if out.rows == out.size:
                    self._flush(name)

    def _flush(self, name: str) -> None:
        out = self._out[name]
        if name == "exchanges":
            set_wait_kinds(out.matrix, 0, out.rows)
        self._tables[name][0].append(out.matrix, out.rows, self._texts.strings)
        out.rows = 0

    def _flush_all(self) -> None:
        for name in _GROWING:
            self._flush(name)
        if len(self._texts.strings) > MOST_TEXTS:
            self._texts.clear()

    def finish(self) -> Counter[str]:
        """Completes the files. Returns the rows by raw table."""
        self._flush_all()
        self._end_parts(list(self._parts))
        self._flush_parts()
        for table, _ in self._tables.values():
            table.complete()
        self._facts.finish()
        self._writer.close()
        return Counter({name: table.rows for name, (table, _) in self._tables.items()})

    def close(self) -> None:
        """Ends the writer; before `finish` this gives up the run."""
        self._writer.close()

    def _make_room(self) -> None:
        if len(self._parts) >= MOST_PARTS:
            by_end = sorted(self._parts, key=lambda name: self._parts[name].end_ns)
            self._end_parts(by_end[: (len(by_end) + 1) // 2])
            self.turns += 1

    def _end_parts(self, names: Sequence[str]) -> None:
        for name in names:
            self._add_part(self._parts.pop(name))
            if len(self._rows["parts"]) >= MOST_ROWS:
                self._flush_parts()

    def _flush_parts(self) -> None:
        for name, rows in self._rows.items():
            if rows:
                table, columns = self._tables[name]
                table.append(_matrix(rows, columns), len(rows), [])
                self._rows[name] = []

    def _add_part(self, part: _Part) -> None:
        broker, broker_port, client, client_port = part.ends
        row = [UNKNOWN] * layout.PART_COLUMNS
        row[layout.PART_NUMBER] = part.number
        row[layout.PART_A_HIGH : layout.PART_A_HIGH + 2] = _halves(client)
        row[layout.PART_B_HIGH : layout.PART_B_HIGH + 2] = _halves(broker)
        row[layout.PART_A_PORT], row[layout.PART_B_PORT] = client_port, broker_port
        row[layout.PART_FIRST_TIME], row[layout.PART_LAST_TIME] = part.begin_ns, part.end_ns
        for at in (layout.PART_VIEW, layout.PART_ORIGIN, layout.PART_POINT, layout.PART_NETWORK, layout.PART_TAP):
            row[at] = 0
        row[layout.PART_SYN] = row[layout.PART_CLOSE] = 0
        self._rows["parts"].append(row)
        row = [UNKNOWN] * layout.FRAMING_COLUMNS
        row[layout.FRAMING_PART] = part.number
        row[layout.FRAMING_CONNECTION] = row[layout.FRAMING_FLOW] = part.connection
        row[layout.FRAMING_CLIENT_SIDE] = 0
        row[layout.FRAMING_PROTOCOL] = layout.PROTOCOL_KAFKA
        row[layout.FRAMING_REQUESTS], row[layout.FRAMING_REPLIES] = part.requests, part.replies
        row[layout.FRAMING_ORPHANS] = row[layout.FRAMING_TOKENS] = 0
        row[layout.FRAMING_CHAINED] = 1
        self._rows["framed_parts"].append(row)
        if part.is_tls:
            row = [UNKNOWN] * len(tls_facts.FIELDS)
            row[0], row[_DECRYPTED] = part.number, 1
            self._rows["tls"].append(row)


_FORWARDED = 10
_API_VERSIONS = 18
_ERROR_CODE = Names((b"errorCode",))
_DECRYPTED = [field.name for field in tls_facts.FIELDS].index("decrypted")


def _error(body: Body) -> Any:
    """The error of a body that has one at its top."""
    places, place = body
    return places.values(place, _ERROR_CODE)[0] if places.is_object(place) else None


def _matrix(rows: list[Sequence[int]], columns: int) -> memoryview:
    """Rows as a matrix."""
    matrix = new_matrix(columns, len(rows))
    into = memoryview(matrix).cast("B")
    size = 8 * len(rows)
    for at, column in enumerate(zip(*rows, strict=True)):
        into[at * size : at * size + size] = memoryview(array("q", column)).cast("B")
    return matrix


def _hash(text: str) -> int:
    """An id, equal in every run, and not negative, as those of packets."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1


def _halves(address: str) -> tuple[int, int]:
    found = ip_address(address)
    raw = bytes(10) + b"\xff\xff" + found.packed if found.version == 4 else found.packed
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)
