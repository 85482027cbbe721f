"""Captures with TLS -> captures of the same connections in clear, in temporary files: what `redact --decrypt` redacts.

Two passes of the stages and one over the packets. First TLS is decrypted, and it is noted which packet brought which content. Then
the segments pass once more, and each packet of a decrypted connection learns its sequence numbers and its content. At last all
packets are written, those of decrypted connections with their content in place of records and handshake. Memory holds a block of a
file and what the stages hold; the disk the content twice.

The files hold plaintext: they are made in a temporary folder that only their owner can read, and are never an output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base import temp_folders
from analyzer.base.outputs import packed
from analyzer.extract.pcapng_file import PcapngFile
from analyzer.ingest.pipeline import Pipeline
from analyzer.ingest.tls_facts import add_secrets, read_key_logs
from analyzer.inputs.engine import Engine
from analyzer.inputs.sources import InputError, Source
from analyzer.redact.packet_store import ByteStore, PacketStore
from analyzer.redact.plain_packets import PlainPackets
from analyzer.redact.plain_positions import Content, Sides
from dissectors import layout
from dissectors.errors import DissectError

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from dissectors.tls.keys import KeyLog

# Passes that are made because secrets came later than what they are for.
_MOST_PASSES = 2


@dataclass
class Decrypted:
    """`sources`: the captures in clear, in the order of the given ones. `connections`: how many were decrypted, whole or in part;
    `content_bytes`: what was decrypted. `left_out`: packets that could not be written in clear (IP fragments, unknown headers)."""

    sources: list[Source] = field(default_factory=list)
    connections: int = 0
    content_bytes: int = 0
    left_out: int = 0
    without_time: int = 0
    failures: list[str] = field(default_factory=list)


@contextmanager
def decrypted(
    sources: Sequence[Source],
    options: Options,
    rewind: Callable[[], object],
    progress: Callable[[int], None] | None = None,
) -> Iterator[Decrypted]:
    """The captures in clear, while the block runs. Raises InputError when no connection can be decrypted; OSError.

    `rewind` makes standard input readable once more.
    """
    folder = temp_folders.make(options.temp_dir)
    try:
        with ExitStack() as closing:
            contents = closing.enter_context(_Contents(folder, sources, options))
            keys = read_key_logs(options.tls_key_logs)
            for _ in range(_MOST_PASSES):
                contents.read(keys, progress)
                rewind()
                if not keys.came_late:
                    break
                keys = keys.afresh()
            if not contents.sides:
                raise InputError(
                    "--decrypt: no connection could be decrypted: name a key log of these connections with --tls-keylog "
                    "(or leave --decrypt out)"
                )
            plain = closing.enter_context(PlainPackets(folder, len(sources)))
            contents.place(plain)
            rewind()
            done = Decrypted(connections=contents.connections, content_bytes=contents.bytes)
            for number, source in enumerate(sources):
                path = folder / f"plain{number}"
                with packed(path, "") as sink:
                    try:
                        plain.write(number, source, PcapngFile(sink), options.decode_as)
                    except (InputError, DissectError) as error:
                        done.failures.append(str(error) if isinstance(error, InputError) else f"{source.name}: {error}")
                done.sources.append(Source(source.name, path, path.stat().st_size, source.first_time_ns))
            done.left_out, done.without_time = plain.left_out, plain.without_time
            yield done
    finally:
        temp_folders.remove(folder)


class _Contents:
    """What was decrypted, by the packet that brought it. `sides`: numbers of the sides of connections that it is of."""

    def __init__(self, folder: Path, sources: Sequence[Source], options: Options) -> None:
        self.sides: set[int] = set()
        self.bytes = 0
        self._folder = folder
        self._sources = sources
        self._options = options
        self._count = 0
        self._numbers: set[frozenset[tuple[int, ...]]] = set()
        self._open()

    def __enter__(self) -> _Contents:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _open(self) -> None:
        # Of each packet: its side, sequence number and place of its content, size.
        self._of_packet = PacketStore(self._folder / "content_of_packets", "<qqqq", len(self._sources))
        self._more: dict[int, list[Content]] = {}  # packets with content before and behind a hole
        self._holes: dict[int, int] = {}  # packets before which content was lost: where it goes on
        self._stored = ByteStore(self._folder / "content")

    def _close(self) -> None:
        self._of_packet.close()
        self._stored.close()

    def read(self, keys: KeyLog, progress: Callable[[int], None] | None) -> None:
        """Decrypts all. What an earlier pass found is forgotten."""
        self._close()
        self._open()
        self.sides.clear()
        self.bytes = 0
        options = replace(self._options, tables=())
        pipeline = Pipeline(self._folder, options, keys=keys, parks=True, content_hook=self._take)
        sides = Sides()

        def take(block: memoryview, segments: memoryview, rows: int) -> None:
            for row in range(rows):
                side, _ = sides.of(segments, row)
                if segments[layout.SEGMENT_CAPTURED, row] > 0:
                    self._of_packet.put(segments[layout.SEGMENT_NUMBER, row], side.number, 0, 0, 0)
            pipeline.feed(block, segments, rows)

        try:
            engine = self._engine(take, partial(add_secrets, keys))
            with suppress(DissectError):
                engine.read_all(self._sources, progress)
            pipeline.finish()
        finally:
            pipeline.close()

    def _engine(
        self, take: Callable[[memoryview, memoryview, int], None], secrets: Callable[[int, bytes], None]
    ) -> Engine:
        return Engine(take, secrets=secrets, taps=self._options.taps, decode_as=self._options.decode_as)

    def _take(self, number: int, seq: int, content: bytes, lost: int) -> None:
        if lost:
            self._holes[number] = seq + lost
            return
        side, first, place, size = self._of_packet.get(number)
        self.sides.add(side)
        new = Content(seq, self._stored.put(content), len(content))
        self.bytes += new.size
        if not size:
            self._of_packet.put(number, side, *new)
        elif number not in self._more and first + size == seq and place + size == new.place:
            self._of_packet.put(number, side, first, place, size + new.size)
        else:
            self._more.setdefault(number, []).append(new)

    def _of(self, number: int) -> tuple[Content, ...]:
        _, seq, place, size = self._of_packet.get(number)
        return (Content(seq, place, size), *self._more.get(number, ())) if size else ()

    @property
    def connections(self) -> int:
        """Connections with something decrypted."""
        return len(self._numbers)

    def place(self, plain: PlainPackets) -> None:
        """Tells `plain` of each packet of decrypted connections what it says in clear."""
        sides = Sides()

        def take(_: memoryview, segments: memoryview, rows: int) -> None:
            for row in range(rows):
                side, begin = sides.of(segments, row)
                other = sides.other(segments, row)
                speaks = side.number in self.sides
                if not speaks and (other is None or other.number not in self.sides):
                    continue
                self._numbers.add(frozenset((side.flow[:3], side.flow[3:6])))
                number, size = segments[layout.SEGMENT_NUMBER, row], segments[layout.SEGMENT_LENGTH, row]
                if number in self._holes:
                    # A reset ends both sides.
                    hole = self._holes[number]
                    ends = other is not None and other.distance(hole) < side.distance(hole)
                    (other if ends and other is not None else side).lose(hole)
                seq, contents = side.add(begin, size, self._of(number))
                flags = segments[layout.SEGMENT_FLAGS, row]
                if flags & layout.TCP_SYN:
                    seq -= 1
                side.ended |= bool(flags & layout.TCP_FIN)
                ack = segments[layout.SEGMENT_ACK, row]
                if other is not None:
                    ack = other.said(other.position(ack))
                # A packet of a handshake stays, without payload: a gap in the IP ids would look like loss.
                plain.add(number, seq, ack, [(each.seq, self._bytes(each)) for each in contents])

        with suppress(DissectError):
            self._engine(take, lambda *_: None).read_all(self._sources)

    def _bytes(self, content: Content) -> bytes:
        return self._stored.get(content.place, content.size)
