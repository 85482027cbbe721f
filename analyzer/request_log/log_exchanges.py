"""Lines of a request log -> raw rows of exchanges, entries, errors, connections and facts, as packets would give them.

The broker's clock is the only one: a request was there `totalTimeMs` before its line was written, and its reply left in the
`sendTimeMs` before that. What only packets tell is unknown: sizes, the way, bytes, how a connection began and ended.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from analyzer.ingest import raw_tables, tls_facts
from analyzer.ingest.raw_writer import RawTable, Writer
from analyzer.request_log.log_facts import LogFacts, Told
from analyzer.request_log.log_lines import UNREAD, Body, LineReader, Logged, NotARequest, Unreadable
from analyzer.request_log.log_reader import COLUMNS, LogFile
from dissectors import layout
from dissectors.kafka.columns.wait_kinds import set_wait_kinds
from dissectors.kafka.logged import log_cells
from dissectors.kafka.logged.log_rows import LogOut, LogRows, MalformedBody, Names, Texts, id_of
from dissectors.kafka.logged.object_plan import plan
from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix

# Not a power of two: columns would compete for the same lines of the cache.
MOST_ROWS = 16_381
_LATEST_NS = 1 << 62
MOST_TEXTS = 100_000
# Connections that are followed. With more, the half that was silent longest is written, as if they had ended: one that speaks again
# is another connection.
MOST_PARTS = 200_000
# A line is an exchange of its own.
LOG_FIELDS = tuple(
    raw_tables.Field(name, at, "text" if kind == "string" else kind)
    for at, (name, kind) in enumerate((COLUMNS | {"exchange": "int64", "connection": "int64"}).items())
)
# By their OUT_ numbers.
_GROWING = ("log_requests", "exchanges", "entries", "errors")
_TABLES = {
    "log_requests": LOG_FIELDS,
    "exchanges": raw_tables.EXCHANGES,
    "entries": raw_tables.ENTRIES,
    "errors": raw_tables.ERRORS,
    "parts": raw_tables.PARTS,
    "framed_parts": raw_tables.FRAMED_PARTS,
    "tls": tls_facts.FIELDS,
    "problems": raw_tables.PROBLEMS,
    "queued": raw_tables.QUEUED,
    "silences": raw_tables.SILENCES,
}


class _Part:
    """A connection, as far as lines name it. What its exchanges say of it is in a slot of `LogOut`."""

    __slots__ = ("ends", "is_tls", "slot")

    def __init__(self, slot: int, ends: Sequence[Any], is_tls: bool) -> None:
        self.slot = slot
        self.ends = ends
        self.is_tls = is_tls


class LogExchanges:
    """Takes lines; raw tables grow in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._writer = Writer()
        self._tables = {
            name: RawTable(self._writer.path(folder, name), fields, self._writer) for name, fields in _TABLES.items()
        }
        self._lines = LineReader()
        self._texts = Texts()
        self._facts = LogFacts(lambda name, table: self._writer.write_table(self._writer.path(folder, name), table))
        self._with_facts = self._facts.keys()
        self.keys: set[int] = set()
        self._out = LogOut(self._texts, MOST_ROWS)
        self.rows = LogRows(self._out, plan, self._with_facts)
        self._rows: dict[str, list[Sequence[int]]] = {name: [] for name in ("parts", "framed_parts", "tls")}
        self.dropped = False
        self._parts: dict[str, _Part] = {}
        self._part_numbers = 0
        self._free: list[int] = []  # slots of connections that ended
        self.turns = 0  # how often half of the connections were written

    def begin(self, log: int) -> None:
        """The lines of a log come next."""
        self.rows.log, self.rows.line, self.rows.requests = log, 0, 0
        self.rows.first_ns, self.rows.last_ns = _LATEST_NS, -_LATEST_NS

    def read(self, text: bytes | None, file: LogFile) -> None:
        """Takes a block of whole lines, None for a line that is too long. Lines that are not as most are, are read with objects."""
        at = 0
        self.rows.begin(text or b"")
        while text is None or at < len(text):
            why = log_cells.WHY_ODD
            if text is not None:
                at = self.rows.read(at)
                self._take_facts(text)
                why = self.rows.why
            if why == log_cells.WHY_ODD:
                self.rows.line += 1
                self._read_line(None if text is None else text[at : self.rows.line_end], file)
                at = self.rows.line_end + 1
            elif why != log_cells.WHY_END:
                self._make_room_for(why)
            if text is None:
                break
        file.requests = self.rows.requests

    def _make_room_for(self, why: int) -> None:
        if why == log_cells.WHY_ENTRIES:
            self._flush(log_cells.OUT_ENTRIES)
        elif why == log_cells.WHY_ERRORS:
            self._flush(log_cells.OUT_ERRORS)
        elif why == log_cells.WHY_FULL:
            self._flush_all()

    def _take_facts(self, text: bytes) -> None:
        for exchange, part, key, version, begin_ns, end_ns, *places in self.rows.take_facts():
            asked, told = (None if at == UNKNOWN else text[at:end] for at, end in (places[:2], places[2:]))
            self._facts.take(exchange, part, Told(key, version, begin_ns, end_ns, asked, told, False))

    def _read_line(self, line: bytes | None, file: LogFile) -> None:
        try:
            if line is None:
                raise Unreadable
            found = self._lines.logged(line)
        except NotARequest:
            return
        except Unreadable:
            file.note_unreadable(self.rows.line)
            return
        self.take(self.rows.log, self.rows.line, found)
        self.rows.requests += 1
        logged_ns, total_ns = found.values[0], found.values[11]
        self.rows.first_ns = min(self.rows.first_ns, logged_ns - total_ns)
        self.rows.last_ns = max(self.rows.last_ns, logged_ns)

    def take(self, log: int, line: int, found: Logged) -> None:
        """Takes a line that was read with objects. One about a request that another broker forwarded is no exchange of a
        connection."""
        exchange = connection = None
        if self._out.count(log_cells.OUT_LINES) == MOST_ROWS:
            self._flush_all()
        if not found.values[_FORWARDED]:
            part = self._parts.get(found.connection)
            if part is None:
                part = self._new_part(found)
            exchange, connection = self._exchange(part, found), self._out.part(part.slot)[log_cells.PART_CELL_ID]
            self.rows.know(found.connection.encode("utf-8", "replace"), part.slot, *found.values[5:7])
        self._out.put_line((log, line, *found.values, exchange, connection))

    def _new_part(self, found: Logged) -> _Part:
        self._make_room()
        self._part_numbers += 1
        name = f"{found.connection} {self.turns}" if self.turns else found.connection
        slot = self._free.pop() if self._free else len(self._parts)
        part = _Part(slot, found.values[1:5], found.values[18] in ("SSL", "SASL_SSL"))
        ends = [self._texts.number(end) if isinstance(end, str) else end for end in part.ends]
        self._out.add_part(slot, (self._part_numbers, _hash(name), UNKNOWN, UNKNOWN, 0, 0, *ends))
        self._parts[found.connection] = part
        return part

    def _exchange(self, part: _Part, found: Logged) -> int:
        """Writes the rows of an exchange, and returns its id."""
        logged_ns, _, _, _, _, key, _, version, correlation, client, _, total_ns, _, _, _, _, _, send_ns, *_ = (
            found.values
        )
        asked, told = self.rows.asked, self.rows.told
        exchange = _hash(f"{found.connection} {correlation} {key} {logged_ns} {total_ns}")
        number = self._out.part(part.slot)[log_cells.PART_CELL_NUMBER]
        self.keys.add(key)
        self._read(asked, found, key, version, "request")
        is_silent = key == 0 and asked.value(layout.VALUE_ACKS) == 0
        self._read(told, found, key, version, None if is_silent else "response")
        if client is not None:
            asked.put(layout.VALUE_CLIENT_ID, self._texts.number(client))
        self._note_software(found, asked)
        send = UNKNOWN if send_ns is None else send_ns
        self._out.put_exchange(asked, told, part.slot, exchange, (key, version, correlation, logged_ns, total_ns, send))
        self._add_rows(asked, exchange, (number, 0, key))
        self._add_rows(told, exchange, (number, 1, key))
        if key in self._with_facts:
            asked_text, told_text = _text(found.request), _text(found.response)
            begin_ns = logged_ns - total_ns
            self._facts.take(
                exchange, number, Told(key, version, begin_ns, logged_ns, asked_text, told_text, found.is_text)
            )
        return exchange

    def _read(self, into: Any, found: Logged, key: int, version: int, direction: str | None) -> None:
        """Reads a body."""
        body: Body | None = getattr(found, direction) if direction else None
        into.clear()
        if body is None or direction is None:
            return
        into.how = layout.DECODED_HEADER
        if body is UNREAD:
            self.rows.unread += 1
            return
        if key == log_cells.API_VERSIONS and direction == "response" and _error(body) == 35:
            version = 0  # a refusal has this form whatever was asked
        steps = plan(key, version, direction, found.is_text)
        if steps is None:
            into.how = layout.DECODED_UNSUPPORTED
            return
        try:
            into.read(steps, *body)
            into.how = layout.DECODED_FULL
        except MalformedBody:
            into.clear()
            into.how = layout.DECODED_HEADER
            self.rows.unread += 1

    def _note_software(self, found: Logged, asked: Any) -> None:
        """Brokers note beside each request the library that the connection named."""
        name, version = found.software
        if type(name) is type(version) is str and name != "unknown":
            asked.put(layout.VALUE_SOFTWARE_NAME, self._texts.number(name))
            asked.put(layout.VALUE_SOFTWARE_VERSION, self._texts.number(version))

    def _add_rows(self, body: Any, exchange: int, label: tuple[int, int, int]) -> None:
        self.dropped = self.dropped or body.dropped
        for which, rows in ((log_cells.OUT_ENTRIES, body.entries), (log_cells.OUT_ERRORS, body.errors)):
            at = 0
            while at < rows:
                if self._out.count(which) == MOST_ROWS:
                    self._flush(which)
                at += self._out.put_rows(which, body, at, exchange, label)

    def _flush(self, which: int) -> None:
        matrix, rows = self._out.matrices[which], self._out.count(which)
        if which == log_cells.OUT_EXCHANGES:
            set_wait_kinds(matrix, 0, rows)
        self._tables[_GROWING[which]].append(matrix, rows, self._texts.strings)
        self._out.empty(which)

    def _flush_all(self) -> None:
        for which in range(len(_GROWING)):
            self._flush(which)
        if len(self._texts.strings) > MOST_TEXTS:
            self._texts.clear()
            self._forget()

    def _forget(self) -> None:
        """Texts have other numbers now, or some connections ended: lines that name one are read with objects once more."""
        self.rows.forget()
        for part in self._parts.values():
            cells = self._out.part(part.slot)[: log_cells.PART_CELL_ENDS]
            ends = [self._texts.number(end) if isinstance(end, str) else end for end in part.ends]
            self._out.add_part(part.slot, (*cells, *ends))

    def finish(self) -> Counter[str]:
        """Completes the files. Returns the rows by raw table."""
        self._flush_all()
        self._end_parts(list(self._parts))
        self._flush_parts()
        self.keys.update(self.rows.keys())
        for table in self._tables.values():
            table.complete()
        self._facts.finish()
        self._writer.close()
        return Counter({name: table.rows for name, table in self._tables.items()})

    def close(self) -> None:
        """Ends the writer; before `finish` this gives up the run."""
        self._writer.close()

    def _make_room(self) -> None:
        if len(self._parts) >= MOST_PARTS:
            ends = {name: self._out.part(part.slot)[log_cells.PART_CELL_END] for name, part in self._parts.items()}
            by_end = sorted(ends, key=ends.__getitem__)
            self._end_parts(by_end[: (len(by_end) + 1) // 2])
            self.turns += 1
            self._forget()

    def _end_parts(self, names: Sequence[str]) -> None:
        for name in names:
            self._add_part(self._parts.pop(name))
            if len(self._rows["parts"]) >= MOST_ROWS:
                self._flush_parts()

    def _flush_parts(self) -> None:
        for name, rows in self._rows.items():
            if rows:
                self._tables[name].append(_matrix(rows), len(rows), [])
                self._rows[name] = []

    def _add_part(self, part: _Part) -> None:
        broker, broker_port, client, client_port = part.ends
        number, connection, begin_ns, end_ns, requests, replies, *_ = self._out.part(part.slot)
        self._free.append(part.slot)
        row = [UNKNOWN] * layout.PART_COLUMNS
        row[layout.PART_NUMBER] = number
        row[layout.PART_A_HIGH : layout.PART_A_HIGH + 2] = _halves(client)
        row[layout.PART_B_HIGH : layout.PART_B_HIGH + 2] = _halves(broker)
        row[layout.PART_A_PORT], row[layout.PART_B_PORT] = client_port, broker_port
        row[layout.PART_FIRST_TIME], row[layout.PART_LAST_TIME] = begin_ns, end_ns
        for at in (layout.PART_VIEW, layout.PART_ORIGIN, layout.PART_POINT, layout.PART_NETWORK, layout.PART_TAP):
            row[at] = 0
        row[layout.PART_SYN] = row[layout.PART_CLOSE] = 0
        self._rows["parts"].append(row)
        row = [UNKNOWN] * layout.FRAMING_COLUMNS
        row[layout.FRAMING_PART] = number
        row[layout.FRAMING_CONNECTION] = row[layout.FRAMING_FLOW] = connection
        row[layout.FRAMING_CLIENT_SIDE] = 0
        row[layout.FRAMING_PROTOCOL] = layout.PROTOCOL_KAFKA
        row[layout.FRAMING_REQUESTS], row[layout.FRAMING_REPLIES] = requests, replies
        row[layout.FRAMING_ORPHANS] = row[layout.FRAMING_TOKENS] = 0
        row[layout.FRAMING_CHAINED] = 1
        self._rows["framed_parts"].append(row)
        if part.is_tls:
            row = [UNKNOWN] * len(tls_facts.FIELDS)
            row[0], row[_DECRYPTED] = number, 1
            self._rows["tls"].append(row)


_FORWARDED = 10
_ERROR_CODE = Names((b"errorCode",))
_DECRYPTED = [field.name for field in tls_facts.FIELDS].index("decrypted")


def _text(body: Body | None) -> bytes | None:
    """A body as JSON, None: there is none that can be read."""
    return None if body is None or body is UNREAD else body.text()


def _error(body: Body) -> Any:
    """The error of a body that has one at its top."""
    places, place = body
    return places.values(place, _ERROR_CODE)[0] if places.is_object(place) else None


def _matrix(rows: list[Sequence[int]]) -> memoryview:
    """Rows as a matrix."""
    matrix = new_matrix(len(rows[0]), len(rows))
    into = memoryview(matrix).cast("B")
    size = 8 * len(rows)
    for at, column in enumerate(zip(*rows, strict=True)):
        into[at * size : at * size + size] = memoryview(array("q", column)).cast("B")
    return matrix


def _hash(text: str) -> int:
    return id_of(text.encode("utf-8", "replace"))


def _halves(address: str) -> tuple[int, int]:
    found = ip_address(address)
    raw = bytes(10) + b"\xff\xff" + found.packed if found.version == 4 else found.packed
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)
