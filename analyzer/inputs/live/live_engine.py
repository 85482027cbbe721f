"""Feeds -> batches of TCP segments in one order of time, as they come.

As `analyzer.inputs.engine` does with captures that overlap in time, feeds are merged by the times of their packets. Nobody waits
for ever: a feed that says nothing for PATIENCE_S does not hold up the others, and what it brings later is late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.inputs.engine import BLOCK_BYTES, FOREVER
from analyzer.inputs.input import Input, new_matrices
from analyzer.inputs.live.feeds import Named, PipeFeed
from analyzer.inputs.live.live_source import LiveSource
from analyzer.inputs.readings import Reading
from dissectors.packet.ip_fragments import Fragments
from dissectors.tcp.merge import Merge

if TYPE_CHECKING:
    from analyzer.inputs.engine import SegmentSink
    from analyzer.inputs.packet_rows import SecretSink
    from dissectors.formats.format_detection import Reader

    # Takes the number of a feed, bytes of whole records, and their reader.
    FeedSink = Callable[[int, memoryview, Reader], None]

PATIENCE_S = 0.5
# What is known of so many sources that are over is kept; of those before them the sums.
MOST_READINGS = 512


@dataclass
class Gone:
    """Sums over sources that are over and no longer listed."""

    sources: int = 0
    packets: int = 0
    bytes: int = 0
    dropped: int = 0


class _Open:
    """A feed with the input that is read of it, if there is one."""

    def __init__(self, number: int, named: Named) -> None:
        self.number = number
        self.named = named
        self.source: LiveSource | None = None
        self.input: Input | None = None
        self.over = False

    @property
    def has_rows(self) -> bool:
        return self.input is not None and self.input.row < self.input.rows


class LiveEngine:
    """Reads feeds; their segments go to `sink`, numbered (split, packet), each source being a split of its own. `records` gets
    what was read, for whoever keeps it. `readings` describe the sources so far, the newest last."""

    def __init__(
        self,
        feeds: Sequence[Named],
        sink: SegmentSink,
        secrets: SecretSink,
        decode_as: Sequence[tuple[int, str]] = (),
        records: FeedSink | None = None,
    ) -> None:
        self.readings: list[Reading] = []
        self.gone = Gone()
        self.latest_ns: int | None = None
        self._sink = sink
        self._secrets = secrets
        self._decode_as = decode_as
        self._records = records
        self._open = [_Open(number, named) for number, named in enumerate(feeds)]
        self._fragments = Fragments()
        self._merge = Merge()
        self._splits = 0
        self._patience_s = PATIENCE_S
        self.bytes = 0

    @property
    def ended(self) -> bool:
        """Whether nothing more can come."""
        return all(each.over or (each.input is None and each.named.feed.has_ended) for each in self._open)

    @property
    def waiting_bytes(self) -> int:
        """What is there and was not read yet."""
        return sum(each.named.feed.waiting_bytes for each in self._open)

    @property
    def lost(self) -> tuple[int, int]:
        """Files and bytes that a ring wrote over before they were read."""
        feeds = [each.named.feed for each in self._open]
        return sum(feed.lost_files for feed in feeds), sum(feed.lost_bytes for feed in feeds)

    @property
    def is_full(self) -> bool:
        """Whether a pipe was left alone because too much waited."""
        pipes = [each.named.feed for each in self._open]
        return any(isinstance(feed, PipeFeed) and feed.spool.full for feed in pipes)

    def step(self) -> bool:
        """Takes a batch of what is there; false when there is nothing now."""
        for each in self._open:
            self._advance(each)
        ready = [each for each in self._open if each.has_rows]
        if not ready:
            return False
        if len(self._open) == 1:
            return self._hand_on(ready[0])
        awaited = [each for each in self._open if not each.has_rows and each.source is not None]
        if any(each.source is not None and each.source.silent_s < self._patience_s for each in awaited):
            return False
        return self._hand_on_first([each.input for each in ready if each.input is not None])

    def cut(self) -> None:
        """What was read so far is all: hands on what still waits."""
        self._patience_s = 0
        for each in self._open:
            if each.source is not None:
                each.source.cut()
            each.over = each.source is None
        while not self.ended:
            self.step()

    def _hand_on(self, one: _Open) -> bool:
        assert one.input is not None
        self._sink(one.input.block, one.input.segments, one.input.rows)
        one.input.row = one.input.rows
        return True

    def _hand_on_first(self, ready: list[Input]) -> bool:
        """The segments of the input that is behind, as far as no other has an earlier one."""
        first = min(ready, key=lambda one: one.time)
        until = min((one.time for one in ready if one is not first), default=FOREVER)
        first.row = self._merge.add(first.block, first.segments, first.row, first.rows, until)
        self._sink(memoryview(self._merge.block), self._merge.segments, self._merge.rows)
        self._merge.clear()
        return True

    def _advance(self, one: _Open) -> None:
        """The next segments of a feed; the next source when one is over."""
        if one.over or one.has_rows:
            return
        if one.input is None and not self._begin(one):
            return
        assert one.input is not None and one.source is not None
        before = one.source.done_bytes
        goes_on = one.input.advance_now()
        self.bytes += one.source.done_bytes - before
        if one.input.latest is not None:
            self.latest_ns = max(self.latest_ns or one.input.latest, one.input.latest)
        one.named.feed.look()
        if not goes_on:
            # A cut source is the last one.
            one.over = self._patience_s == 0
            one.input = one.source = None

    def _begin(self, one: _Open) -> bool:
        source = one.named.feed.following()
        if source is None:
            return False
        reading = Reading(self._splits, source, file=self._splits, tap=one.named.tap, capture_point=one.number)
        self._splits += 1
        self.readings.append(reading)
        self._forget_old()
        taken = None
        if self._records is not None:
            records, number = self._records, one.number

            def taken(data: memoryview, reader: Reader) -> None:
                records(number, data, reader)

        one.source = source
        one.input = Input(
            reading, new_matrices(), BLOCK_BYTES, self._fragments, self._secrets, decode_as=self._decode_as, taken=taken
        )
        return True

    def _forget_old(self) -> None:
        """Sources that are over are summed up where there are too many."""
        while len(self.readings) > MOST_READINGS:
            old = self.readings.pop(0)
            self.gone.sources += 1
            self.gone.packets += sum(old.outcomes)
            self.gone.bytes += old.bytes
            self.gone.dropped += sum(old.drops.values())
