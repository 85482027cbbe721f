"""Captures -> one capture without what it must not tell, in three passes.

First packets go into a spool, with their headers and without payload. Then the stages read the same captures, and what they
understand is written into the packets that hold it (`conversations`, `streams`). At last the packets get their checksums, and are
written. Memory holds a block of a file, the segments of a moment, and what the stages hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base import temp_folders
from analyzer.extract.pcapng_file import PcapngFile
from analyzer.ingest.pipeline import Pipeline
from analyzer.inputs.engine import Engine
from analyzer.inputs.sources import InputError
from analyzer.redact.conversations import Conversations
from analyzer.redact.counts import Counts
from analyzer.redact.packet_checksums import NO_SUM, tcp_checksum
from analyzer.redact.packet_spool import Places, Spool, Spooled
from analyzer.redact.packet_spooling import PacketSpooler
from analyzer.redact.streams import Streams
from analyzer.redact.texts import Texts
from dissectors.errors import DissectError

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.inputs.sources import Source
    from analyzer.redact.pseudonyms import Pseudonyms


class Redaction:
    """Captures that were redacted, and are to be written. `failures`: lines about captures that could not be read to their end;
    `kept`: (kind, word) of well-known words that stayed."""

    def __init__(
        self, spooler: PacketSpooler, spool: Spool, counts: Counts, failures: list[str], kept: set[tuple[str, str]]
    ) -> None:
        self.counts = counts
        self.kept = kept
        self.failures = failures
        self._spooler = spooler
        self._spool = spool

    def packets(self) -> Iterator[Spooled]:
        """The packets as they will be written."""
        for packet in self._spool.packets():
            if packet.checksum != NO_SUM and packet.tcp >= 0:
                at = packet.tcp + 16
                packet.data[at : at + 2] = tcp_checksum(
                    packet.data, packet.ip, packet.tcp, packet.end, packet.sent, packet.checksum
                )
            yield packet

    def write(self, target: PcapngFile) -> None:
        """Writes all packets."""
        numbers: dict[int, int] = {}
        for packet in self.packets():
            if packet.interface not in numbers:
                numbers[packet.interface] = target.interface(*self._spooler.interfaces.all[packet.interface])
            target.packet(numbers[packet.interface], packet.ticks, bytes(packet.data), packet.length)


@contextmanager
def redacted(
    sources: Sequence[Source],
    options: Options,
    pseudonyms: Pseudonyms,
    rewind: Callable[[], object],
    progress: Callable[[int], None] | None = None,
) -> Iterator[Redaction]:
    """The redaction of captures in the order of time. `rewind` makes standard input readable once more."""
    folder = temp_folders.make(options.temp_dir)
    try:
        with ExitStack() as closing:
            counts, failures = Counts(), list[str]()
            spool = Spool(folder / "packets")
            closing.callback(spool.close)
            places = Places(folder / "places")
            closing.callback(places.close)
            texts = Texts(pseudonyms)
            spooler = PacketSpooler(spool, pseudonyms, counts)
            for file, source in enumerate(sources):
                try:
                    spooler.add(file, source, places, options.decode_as, progress)
                except (InputError, DissectError) as error:
                    failures.append(str(error) if isinstance(error, InputError) else f"{source.name}: {error}")
            spool.complete()
            spooler.finish()
            rewind()
            streams = Streams(spool, places, counts)
            streams.pieces = spooler.pieces
            _read(sources, options, Conversations(streams, texts, counts), streams, folder, progress)
            yield Redaction(spooler, spool, counts, failures, texts.kept)
    finally:
        temp_folders.remove(folder)


def _read(
    sources: Sequence[Source],
    options: Options,
    conversations: Conversations,
    streams: Streams,
    folder: Path,
    progress: Callable[[int], None] | None,
) -> None:
    """Lets the stages read the captures."""
    pipeline = Pipeline(
        folder, replace(options, tables=()), conversations.frames, parks=True, chunk_hook=conversations.chunks
    )

    def take(block: memoryview, segments: memoryview, rows: int) -> None:
        streams.add(segments, rows)
        pipeline.feed(block, segments, rows)

    try:
        engine = Engine(take, taps=options.taps, decode_as=options.decode_as)
        with suppress(DissectError):
            engine.read_all(sources, progress)
        pipeline.finish()
        conversations.finish()
    finally:
        pipeline.close()
