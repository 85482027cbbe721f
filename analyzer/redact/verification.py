"""Proves of what was written that it tells nothing: byte by byte, and by a search for all that the captures told.

- *Places*: what was written is read as a capture and redacted again, with pseudonyms that change nothing. A byte that is not on the
  list would become zero. So the packets must come out as they are.
- *Search*: the captures are read once more, by the reference interpreter, which knows nothing of redaction. Every name, value, key,
  header and address of eight bytes or more is looked for in the bytes of the file. Of a damaged message, where nothing was
  written but its ids, it says nothing: what is there for names are bytes of anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base import temp_folders
from analyzer.base.memory import give_back
from analyzer.ingest.pipeline import Pipeline
from analyzer.inputs.engine import Engine
from analyzer.inputs.packet_rows import PacketRows
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import Source
from analyzer.redact import allow_list, needles
from analyzer.redact.message_rewriting import is_damaged
from analyzer.redact.packet_spooling import BLOCK_BYTES
from analyzer.redact.pseudonyms import Unchanged
from analyzer.redact.redacting import redacted
from analyzer.redact.tls_search import is_hello
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.kafka.messages.explain import Embedded, Explained, Struct, explain
from dissectors.kafka.messages.record_batches import Record
from dissectors.kafka.messages.records import Budget, each_record
from dissectors.matrix import new_matrix
from dissectors.tls.hello import CLIENT_HELLO, client_hello

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from dissectors.kafka.messages.explain import Node
    from dissectors.tls.keys import KeyLog

_LARGE_BYTES = 16_000_000
_MOST_TOLD = 10


@dataclass
class Verdict:
    """`problems`: a line for each thing that should not be there; empty: it was proved. `packets`, `sought`: how many were
    compared, and looked for; `unconfirmed`: packets with bytes that are not on the list."""

    packets: int = 0
    packet_bytes: int = 0
    unconfirmed: int = 0
    sought: int = 0
    problems: list[str] = field(default_factory=list)

    def tell(self, line: str) -> None:
        if len(self.problems) < _MOST_TOLD:
            self.problems.append(line)


def verify(
    written: Path,
    sources: Sequence[Source],
    options: Options,
    rewind: Callable[[], object],
    keys: KeyLog | None = None,
    names: Iterable[bytes] = (),
) -> Verdict:
    """Verifies the file that was made of `sources`. `keys`: those with which TLS was decrypted, so that names in it are sought;
    `names`: what else must not be in it."""
    verdict = Verdict()
    _give_back(sources)
    output = Source(written.name, written, written.stat().st_size)
    _places(output, options, verdict)
    if verdict.unconfirmed:
        return verdict
    rewind()
    _give_back(sources)
    _search(output, sources, options, keys, names, verdict)
    return verdict


def _give_back(sources: Sequence[Source]) -> None:
    """What reading large captures took, before they are read again."""
    if sum(source.size_bytes or 0 for source in sources) > _LARGE_BYTES:
        give_back()


# ---- places ----


def _places(output: Source, options: Options, verdict: Verdict) -> None:
    with redacted([output], options, Unchanged(), lambda: None) as again:
        for line in again.failures:
            verdict.tell(line)
        rows = PacketRows(Reading(0, output, file=0), new_matrix(layout.PACKET_COLUMNS, 4_096 + 8), BLOCK_BYTES)
        found = again.packets()
        for data, packets, row, stop in rows.batches():
            for each in range(row, stop):
                at, size = packets[layout.PACKET_OFFSET, each], packets[layout.PACKET_CAPTURED, each]
                packet = next(found, None)
                if packet is None or packet.data != data[at : at + size]:
                    number = packets[layout.PACKET_NUMBER, each]
                    verdict.unconfirmed += 1
                    place = -1 if packet is None else _first_difference(packet.data, bytes(data[at : at + size]))
                    verdict.tell(f"packet {number} has bytes that are not on the list, from byte {place} on")
                verdict.packets += 1
                verdict.packet_bytes += size
        for secret in rows.interfaces:
            if secret.name:
                verdict.tell("an interface has a name")


def _first_difference(one: bytes | bytearray, other: bytes) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


# ---- search ----


def _search(
    output: Source,
    sources: Sequence[Source],
    options: Options,
    keys: KeyLog | None,
    names: Iterable[bytes],
    verdict: Verdict,
) -> None:
    collected = _Collected(names)

    def look() -> None:
        verdict.sought += len(collected.waiting)
        for offset, form in needles.Needles(collected.waiting).found_in(output.blocks()):
            verdict.tell(f"a name or value of {len(form)} bytes is at byte {offset} of the file")
        collected.waiting.clear()

    folder = temp_folders.make(options.temp_dir)
    pipeline = Pipeline(
        folder, replace(options, tables=()), collected.frames, keys, parks=True, chunk_hook=collected.chunks
    )

    def take(block: memoryview, segments: memoryview, rows: int) -> None:
        collected.addresses(segments, rows)
        pipeline.feed(block, segments, rows)
        if len(collected.waiting) >= needles.MOST_AT_ONCE:
            look()

    try:
        engine = Engine(take, taps=options.taps, decode_as=options.decode_as)
        with suppress(DissectError):
            for reading in engine.read_all(sources):
                del reading
        pipeline.finish()
    finally:
        pipeline.close()
        temp_folders.remove(folder)
    look()


class _Collected:
    """What captures tell; `waiting`: what was not looked for yet."""

    def __init__(self, names: Iterable[bytes] = ()) -> None:
        self.waiting: set[bytes] = set()
        self._known = needles.Known()
        for name in names:
            self._add(name)

    def _add(self, value: bytes, kind: str = "") -> None:
        if not needles.is_sought(value) or (kind and stays(kind, value)):
            return
        if self._known.is_new(value[: needles.MOST_BYTES]):
            self.waiting.add(value[: needles.MOST_BYTES])

    def addresses(self, segments: memoryview, rows: int) -> None:
        """Takes a batch of segments."""
        found = set()
        for row in range(rows):
            found.add((segments[layout.SEGMENT_SRC_HIGH, row], segments[layout.SEGMENT_SRC_LOW, row]))
        for high, low in found:
            address = IPv6Address((high % (1 << 64)) << 64 | low % (1 << 64))
            self._add(str(address.ipv4_mapped or address).encode(), "host")

    def chunks(self, block: memoryview, heap: bytearray, chunks: memoryview, rows: int) -> None:
        """Takes a batch of chunks: a ClientHello names a host."""
        buffers = (block, memoryview(heap))
        for row in range(rows):
            if chunks[layout.CHUNK_KIND, row] == layout.CHUNK_DATA:
                at = chunks[layout.CHUNK_OFFSET, row]
                data = buffers[chunks[layout.CHUNK_BUFFER, row]][at : at + chunks[layout.CHUNK_LENGTH, row]]
                if is_hello(data) and data[5] == CLIENT_HELLO:
                    with suppress(DissectError):
                        self._add(client_hello(bytes(data[9:])).server_name or b"", "host")

    def frames(self, frames: memoryview, rows: int, block: memoryview, heap: bytearray) -> None:
        """Takes a batch of frames."""
        buffers = (block, memoryview(heap))
        for row in range(rows):
            event, begin = frames[layout.FRAME_EVENT, row], frames[layout.FRAME_OFFSET, row]
            held = frames[layout.FRAME_HELD, row]
            if held <= 0 or event in (layout.FRAME_ORPHAN_SEEN, layout.FRAME_REQUEST_ENDED):
                continue
            data = bytes(buffers[frames[layout.FRAME_BUFFER, row]][begin : begin + held])
            if event == layout.FRAME_TOKEN_SEEN:
                self._token(data)
                continue
            key, version = frames[layout.FRAME_KEY, row], frames[layout.FRAME_VERSION, row]
            direction = "request" if event == layout.FRAME_REQUEST_SEEN else "response"
            found = explain(key, version, direction, data)
            size = frames[layout.FRAME_LENGTH, row]
            if found.error is None or not is_damaged(data, size, key, version, direction == "request"):
                self._message(found)

    def _message(self, found: Explained | Embedded) -> None:
        client = found.header.fields.get("client_id")
        if client is not None and client.value:
            self._add(client.value.encode(errors="replace"), "client")
        if found.body is not None:
            self._struct(found.body)

    def _struct(self, struct: Struct) -> None:
        for unknown in struct.unknown_tags.values():
            self._add(unknown)
        for node in struct.fields.values():
            if node.field is not None:
                # What bytes hold is looked for, not the bytes: a message inside begins like others.
                kind = "message" if node.field.embedded else allow_list.treatment(node.field)
                for value in _values(node):
                    self._value(value, kind)
            if node.embedded is not None:
                self._message(node.embedded)

    def _value(self, value: object, kind: str) -> None:
        if isinstance(value, Struct):
            self._struct(value)
        elif isinstance(value, str):
            self._add(value.encode(errors="replace"), kind)
        elif isinstance(value, memoryview):
            each_record(value, self._record, Budget())
        elif isinstance(value, bytes) and kind == "token":
            self._token(value)
        elif isinstance(value, bytes) and kind not in ("message", "uuid"):
            self._add(value)

    def _record(self, record: Record) -> None:
        if record.control is not None:
            return
        self._add(record.key or b"")
        self._add(record.value or b"")
        for name, value in record.headers:
            self._add(name.encode(errors="replace"))
            self._add(value or b"")

    def _token(self, token: bytes) -> None:
        for part in token.replace(b",", b"\0").replace(b"\x01", b"\0").split(b"\0"):
            self._add(part[2:] if part[1:2] == b"=" else part, "principal")


def stays(kind: str, value: bytes) -> bool:
    """Whether it may stay as it is: a well-known word, or an address that names no host."""
    if allow_list.is_kept(kind, value):
        return True
    around = allow_list.parts(kind, value)
    if around is not None and not (around[0] + around[2]).strip(b" .,:;-"):
        return True
    text = value.decode("latin-1").removeprefix("/")
    with suppress(ValueError):
        address = ip_address(text.rpartition(":")[0] if text.count(":") == 1 else text)
        return address.is_loopback or address.is_unspecified or address.is_multicast or address.is_reserved
    return kind == "host" and text in ("localhost", "localhost.localdomain")


def _values(node: Node) -> Iterator[object]:
    if isinstance(node.value, list):
        yield from (each.value for each in node.value)
    elif node.value is not None:
        yield node.value
