"""What the stages say of a stream -> what is written in its place: frames, also one that never ended, TLS, openings."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from analyzer.redact.directions import Conversation, Reader
from analyzer.redact.message_rewriting import redact_message
from analyzer.redact.opening_rewriting import is_opening, redact_opening
from analyzer.redact.rewriting_steps import Work
from analyzer.redact.tls_rewriting import TlsSide
from analyzer.redact.tls_search import TlsSearch
from analyzer.redact.token_rewriting import redact_token
from dissectors import layout
from dissectors.kafka.schema import lookup

if TYPE_CHECKING:
    from analyzer.redact.counts import Counts
    from analyzer.redact.directions import Direction
    from analyzer.redact.streams import Streams
    from analyzer.redact.texts import Texts
    from analyzer.redact.tls_search import Chain

_MOST_CONVERSATIONS = 200_000
_MOST_PENDING = 64
# The longest frame that a connection may begin with and never end, so that it is believed to be one.
_LONGEST_FIRST = 128 << 20
_SEEN = (layout.FRAME_REQUEST_SEEN, layout.FRAME_REPLY_SEEN, layout.FRAME_ORPHAN_SEEN, layout.FRAME_TOKEN_SEEN)


class Conversations:
    """Hears of chunks and frames (`Pipeline`), and writes into `streams`."""

    def __init__(self, streams: Streams, texts: Texts, counts: Counts) -> None:
        self._streams = streams
        self._texts = texts
        self._counts = counts
        self._conversations: OrderedDict[int, Conversation] = OrderedDict()
        self._of_slot: dict[int, list[Direction]] = {}
        self._searches: dict[int, TlsSearch] = {}
        self._tls: set[int] = set()  # slots of connections that are TLS
        self._taking: list[Reader] = []  # that took chunks of this batch
        self._over: list[Direction] = []  # their connections are closed, but frames of this batch may be theirs

    # ---- streams ----

    def chunks(self, block: memoryview, heap: bytearray, chunks: memoryview, rows: int) -> None:
        """Takes a batch of chunks before any stage behind reassembly does."""
        self._end_all()
        for reader in self._taking:
            reader.settle()
        self._taking.clear()
        buffers = (block, memoryview(heap))
        for row in range(rows):
            kind, slot = chunks[layout.CHUNK_KIND, row], chunks[layout.CHUNK_SLOT, row]
            if kind == layout.CHUNK_DATA:
                self._data(chunks, row, slot, buffers)
            elif kind == layout.CHUNK_OPEN:
                self._of_slot[slot] = []
                self._searches[slot] = TlsSearch(bool(chunks[layout.CHUNK_OFFSET, row]))
                self._tls.discard(slot)
            elif kind == layout.CHUNK_GAP and slot in self._searches:
                self._searches[slot].gap(chunks[layout.CHUNK_SIDE, row], chunks[layout.CHUNK_LENGTH, row])
            elif kind == layout.CHUNK_CLOSE:
                self._end_search(slot)
                self._over += self._of_slot.pop(slot, ())
                self._tls.discard(slot)

    def _data(self, chunks: memoryview, row: int, slot: int, buffers: tuple[memoryview, memoryview]) -> None:
        at, size, side = (
            chunks[column, row] for column in (layout.CHUNK_OFFSET, layout.CHUNK_LENGTH, layout.CHUNK_SIDE)
        )
        data = buffers[chunks[layout.CHUNK_BUFFER, row]][at : at + size]
        direction = self._streams.of_packet(chunks[layout.CHUNK_NUMBER, row])
        position = 0 if direction is None else direction.position(chunks[layout.CHUNK_SEQ, row])
        if direction is not None and direction.reader is None:
            self._begin(direction, slot, side, position, data)
        search = self._searches.get(slot)
        if search is not None:
            chain = search.look(side, position, data)
            if search.is_over:
                del self._searches[slot]
            if chain is not None:
                self._is_tls(slot, search, direction, position, chain)
        if direction is None or direction.reader is None:
            return
        reader = direction.reader
        if isinstance(reader, Reader):
            if reader.take(position, data):
                self._taking.append(reader)
            return
        for begin, written in reader.feed(position, data):
            self._streams.write(direction, begin, written)
            self._counts.tls_records += 1
        self._streams.is_done(direction, position)

    def _is_tls(self, slot: int, search: TlsSearch, shown: Direction | None, position: int, chain: Chain) -> None:
        """The connection is TLS, as a chunk at `position` of the direction `shown` shows."""
        self._tls.add(slot)
        for each in self._of_slot[slot]:
            if not isinstance(each.reader, Reader):
                continue
            self._write_headers(each, each.reader, search)
            _, next_record = search.begun(each.reader.side)
            if each is shown:
                next_record = position + chain.at
                if chain.before is not None:
                    self._streams.write(each, chain.before.position, chain.before.data)
            each.reader = TlsSide(self._texts, next_record, not each.begins)
            self._blank_beginning(each)

    def _end_search(self, slot: int) -> None:
        """The connection is over, and not known to be TLS."""
        search = self._searches.pop(slot, None)
        found = [(each, each.reader) for each in self._of_slot.get(slot, ())]
        if search is None or not all(isinstance(reader, Reader) and not reader.frames for _, reader in found):
            return
        for direction, reader in found:
            if isinstance(reader, Reader):
                self._write_headers(direction, reader, search)

    def _write_headers(self, direction: Direction, reader: Reader, search: TlsSearch) -> None:
        """What looked like records of a connection in which nothing else was understood."""
        for header in search.begun(reader.side)[0]:
            self._streams.write(direction, header.position, header.data)
            self._counts.tls_records += 1

    def _begin(self, direction: Direction, slot: int, side: int, position: int, data: memoryview) -> None:
        direction.reader = reader = Reader(position, side)
        self._of_slot.setdefault(slot, []).append(direction)
        if slot in self._tls:
            direction.reader = TlsSide(self._texts, position if direction.begins else None, not direction.begins)
            self._blank_beginning(direction)
        elif direction.begins:
            opening = redact_opening(bytes(data[:1024]), self._texts)
            if opening:
                self._streams.write(direction, position, opening)
                reader.boundary += len(opening)
        elif is_opening(data[:16]):
            self._blank_beginning(direction)

    def _blank_beginning(self, direction: Direction) -> None:
        """What is at the beginning of a stream becomes zeros, as nobody knows that it is one: counted where its SYN was
        forgotten."""
        self._counts.forgotten_beginnings += direction.forgotten
        direction.forgotten = False

    # ---- frames ----

    def frames(self, frames: memoryview, rows: int, block: memoryview, heap: bytearray) -> None:
        """Takes a batch of frames."""
        buffers = (block, memoryview(heap))
        for row in range(rows):
            event = frames[layout.FRAME_EVENT, row]
            if event not in _SEEN:
                continue
            direction = self._streams.of_packet(frames[layout.FRAME_NUMBER, row])
            if direction is None:
                self._counts.late_frames += 1
                continue
            reader = direction.reader
            if not isinstance(reader, Reader):
                continue  # decrypted: these bytes are not in any packet
            begin, held = frames[layout.FRAME_OFFSET, row], frames[layout.FRAME_HELD, row]
            data = bytes(buffers[frames[layout.FRAME_BUFFER, row]][begin : begin + max(held, 0)])
            size = frames[layout.FRAME_LENGTH, row]
            position = direction.position(frames[layout.FRAME_SEQ, row])
            written = self._frame(frames, row, event, reader, data)
            self._streams.write(direction, position, (size & 0xFFFFFFFF).to_bytes(4, "big") + written)
            reader.end_frame(position + 4 + size)
            self._streams.is_done(direction, reader.boundary)

    def _frame(self, frames: memoryview, row: int, event: int, reader: Reader, data: bytes) -> bytearray:
        conversation = self._conversation(frames[layout.FRAME_PART, row])
        reader.conversation = conversation
        reader.frames += 1
        work = Work(data, bytearray(len(data)), self._texts, self._counts, conversation.said)
        work.size = frames[layout.FRAME_LENGTH, row]
        key, version = frames[layout.FRAME_KEY, row], frames[layout.FRAME_VERSION, row]
        if event == layout.FRAME_TOKEN_SEEN:
            is_request = frames[layout.FRAME_STATUS, row] != layout.STATUS_ANSWERED
            self._counts.tokens += 1
            reader.is_request = is_request
            return bytearray(redact_token(data, conversation.said.mechanism, is_request, self._texts))
        reader.is_request = work.is_request = event == layout.FRAME_REQUEST_SEEN
        if work.is_request:
            pending = conversation.pending
            pending[frames[layout.FRAME_CORRELATION, row]] = key, version
            if len(pending) > _MOST_PENDING:
                pending.popitem(last=False)
            redact_message(work, key, version)
        elif event == layout.FRAME_ORPHAN_SEEN or key == layout.UNKNOWN:
            # Of a reply to what was not seen its id is known, even where its bytes are not.
            self._counts.unknown_replies += 1
            return bytearray((frames[layout.FRAME_CORRELATION, row] & 0xFFFFFFFF).to_bytes(4, "big"))
        else:
            conversation.pending.pop(frames[layout.FRAME_CORRELATION, row], None)
            redact_message(work, key, version)
        return work.out

    def _conversation(self, part: int) -> Conversation:
        found = self._conversations.get(part)
        if found is None:
            found = self._conversations[part] = Conversation()
            if len(self._conversations) > _MOST_CONVERSATIONS:
                self._conversations.popitem(last=False)
        return found

    # ---- what never ended ----

    def finish(self) -> None:
        """The capture has ended."""
        for slot in list(self._searches):
            self._end_search(slot)
        self._end_all()
        for direction in self._streams.directions():
            self._end(direction)

    def _end_all(self) -> None:
        for direction in self._over:
            self._end(direction)
        self._over.clear()

    def _end(self, direction: Direction) -> None:
        reader = direction.reader
        self._streams.forget(direction)
        if isinstance(reader, Reader):
            reader.settle()
            work = self._unfinished(direction, reader) if len(reader.tail) >= 4 else None
            if work is not None:
                self._streams.write(direction, reader.boundary, reader.tail[:4] + work.out)
        direction.reader = None

    def _unfinished(self, direction: Direction, reader: Reader) -> Work | None:
        """The beginning of a frame behind another one, or at the beginning of a connection, where it can be nothing else."""
        size = int.from_bytes(reader.tail[:4], "big", signed=True)
        data = reader.tail[4:]
        conversation = reader.conversation or Conversation()
        work = Work(data, bytearray(len(data)), self._texts, self._counts, conversation.said)
        work.size = size
        if not 8 <= size <= _LONGEST_FIRST:
            return None
        if reader.is_request is False:
            if len(data) < 4:
                return work
            found = conversation.pending.get(int.from_bytes(data[:4], "big", signed=True))
            if found is None:
                return None
            work.is_request = False
            redact_message(work, *found)
            return work
        if not reader.frames and not direction.begins:
            self._blank_beginning(direction)
            return None
        key, version = (int.from_bytes(data[place : place + 2], "big", signed=True) for place in (0, 2))
        api = lookup.api(key)
        if len(data) >= 8 and api is not None and version in api.versions:
            redact_message(work, key, version)
            return work
        # Behind a frame any other begins with its length; the first one must show that it is one.
        return work if reader.frames else None
