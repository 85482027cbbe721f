"""Single connections of a run, for runs over parts of a capture: checkpoints of all stages, and what came of connections.

A checkpoint is taken between two segments of a connection when nothing is pending: no bytes are buffered, no hole is open,
both sides are at a frame boundary, and the connection is proved to be Kafka. What follows then depends on the numbers in
the checkpoint only. So another run whose connection is in the same state may skip what was read up to a later checkpoint, and
resume there.

Four stages know something of a connection: reassembly, TLS detection, framing and pairing. Each keeps the protocol
`ResumableStage`; `Connections` calls them together. What comes before Kafka is over at a checkpoint (`OpeningRows`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dissectors import layout

if TYPE_CHECKING:
    from analyzer.ingest.facts.collect import Collector
    from dissectors.kafka.columns.exchanges import Exchanges
    from dissectors.kafka.columns.walk import Walker
    from dissectors.kafka.framing.framing import Framing
    from dissectors.openings.opening_rows import OpeningRows
    from dissectors.tcp.reassembly import Reassembly
    from dissectors.tls.detection import TlsRows


class TaskObserver(Protocol):
    """Hears of what keeps connections from being resolved in a task (`analyzer.distributed.resolver`)."""

    def see_problems(self, matrix: memoryview, rows: int, dropped: int) -> None:
        """Rows of PROBLEM_ columns, and how many more there were."""

    def see_tls(self, parts: Iterable[int]) -> None:
        """Parts that are TLS connections."""


class ResumableStage(Protocol):
    """A stage whose knowledge of a connection can be taken down in one run and go on in another.

    `slot` is the number of the connection's state in the stage. A checkpoint is a list of numbers, which may travel to another
    process. `flip` is the side of this run that is side 0 of the run that took the checkpoint.

    Framing has requests in flight besides: its `checkpoint` returns their indexes as a second value, its `resume` the indexes
    before and after. Pairing (`Exchanges`) knows no sides, so its methods lack `flip`; they take the part, as slots are used
    again.
    """

    def checkpoint(self, slot: int, /) -> list[int] | None:
        """What the stage knows of a connection; None when it knows something that numbers cannot tell."""

    def matches(self, slot: int, checkpoint: Sequence[int], flip: int, /) -> bool:
        """Whether nothing of the connection is pending, and it is in the state that a checkpoint of another run tells."""

    def resume(self, slot: int, before: Sequence[int], after: Sequence[int], flip: int, /) -> object:
        """Takes the connection from checkpoint `before`, which it `matches`, to a later one of the same run."""


if TYPE_CHECKING:
    # So that mypy checks it.
    _RESUMABLE: tuple[type[ResumableStage], ...] = (Reassembly, TlsRows, Framing)


class Checkpoint(NamedTuple):
    """What all stages know of a connection. `requests`: for each request that waits for its reply, in their order, its row of
    exchanges (strings as bytes) and, for facts, its body (`Collector.held_request`)."""

    tcp: list[int]
    framing: list[int]
    replies: list[int]
    tls: list[int]
    requests: list[tuple[list[Any], tuple[Any, ...] | None]]

    @property
    def time_ns(self) -> int:
        """Time of the last segment before it."""
        return self.tcp[layout.TCP_CHECKPOINT_TIME]


class Connections:
    """The connections of a run, by `slot` (the number of their state) or by `part` (their number in raw rows)."""

    def __init__(
        self,
        streams: Reassembly,
        opening_rows: OpeningRows,
        tls_rows: TlsRows,
        frames: Framing,
        exchanges: Exchanges,
        walker: Walker,
        collector: Collector | None,
    ) -> None:
        self._streams = streams
        self._opening_rows = opening_rows
        self._tls_rows = tls_rows
        self._frames = frames
        self._exchanges = exchanges
        self._walker = walker
        self._collector = collector

    # ---- what came of them ----

    @property
    def next_part(self) -> int:
        """The number that the next part will have."""
        return self._streams.next_part  # type: ignore[no-any-return]

    def take_touched(self, fresh_bytes: int) -> Iterable[tuple[int, int, bool, bool]]:
        """(slot, part, spoiled, pauses) of connections with new segments since the last call.

        A connection with less than `fresh_bytes` of new bytes (an eighth of them where no span is under way) is left for the
        next call, unless it is spoiled. `spoiled`: what came depends on more than the newest checkpoint tells. `pauses`: nothing
        is pending in reassembly.
        """
        return self._streams.take_touched(fresh_bytes)  # type: ignore[no-any-return]

    def take_closed(self) -> Iterable[int]:
        """Parts that were closed since the last call."""
        return self._streams.take_closed()  # type: ignore[no-any-return]

    def take_duplicates(self) -> Iterable[tuple[int, int]]:
        """(part, split) of each segment that was captured twice, since the last call."""
        return self._streams.take_duplicates()  # type: ignore[no-any-return]

    def take_complete(self) -> Any:
        """COMPLETE_ columns, one connection after the other, of those that began with a SYN without ACK, are closed, and were seen
        at one capture point only."""
        return self._streams.take_complete()

    def take_disturbed(self) -> Iterable[int]:
        """Parts set by `restore_complete` to which more segments came, since the last call."""
        return self._streams.take_disturbed()  # type: ignore[no-any-return]

    # ---- taking checkpoints ----

    def checkpoint(self, slot: int, part: int) -> Checkpoint | None:
        """The checkpoint of a connection in which nothing is pending in reassembly; None when something is in another stage."""
        if not self._frames.can_checkpoint(slot) or not self._opening_rows.is_settled(slot):
            return None
        replies, tls = self._exchanges.checkpoint(slot, part), self._tls_rows.checkpoint(slot)
        if replies is None or tls is None:
            return None
        framing, indexes = self._frames.checkpoint(slot)
        texts = self._walker.texts() if indexes else []
        return Checkpoint(
            self._streams.checkpoint(slot), framing, replies, tls, [self._request(index, texts) for index in indexes]
        )

    def _request(self, index: int, texts: list[bytes]) -> tuple[list[Any], tuple[Any, ...] | None]:
        row = self._exchanges.pending_request(index, texts)
        return row, self._collector.held_request(index, row[layout.ROW_EXCHANGE]) if self._collector else None

    def checkpoint_taken(self, slot: int, since_ns: int) -> None:
        """A checkpoint was used. Segments older than `since_ns`, the time of the first checkpoint of the span, spoil it."""
        self._streams.begin_span(slot, since_ns)

    def stop_at_boundary(self, slot: int) -> None:
        """Makes `Pipeline.feed_some` stop where the frame under way ends."""
        missing = self._frames.bytes_to_boundary(slot)
        if missing is not None:
            self._streams.stop_after(slot, *missing)

    def endpoints(self, slot: int) -> dict[int, int]:
        """SEGMENT_ column -> value: scope, addresses and ports of a segment that side 0 would send."""
        return self._streams.endpoints(slot)  # type: ignore[no-any-return]

    # ---- resuming ----

    def find(self, segments: memoryview, row: int = 0) -> tuple[int, int]:
        """(slot, side) of the connection that a segment belongs to by its addresses; (-1, 0): there is none."""
        return self._streams.find(segments, row)  # type: ignore[no-any-return]

    def part(self, slot: int) -> int:
        """The part that has this slot."""
        return self._streams.part_of(slot)  # type: ignore[no-any-return]

    def last_time_ns(self, slot: int) -> int:
        """The time of the newest segment of a connection, UNKNOWN without one."""
        return self._streams.checkpoint(slot)[layout.TCP_CHECKPOINT_TIME]  # type: ignore[no-any-return]

    def matches(self, slot: int, checkpoint: Checkpoint, flip: int) -> bool:
        """Whether a connection is in the state that a checkpoint of another run tells."""
        return (
            self._streams.matches(slot, checkpoint.tcp, flip)
            and self._opening_rows.is_settled(slot)
            and self._frames.matches(slot, checkpoint.framing, flip)
            and self._tls_rows.matches(slot, checkpoint.tls, flip)
            and self._exchanges.matches(slot, self.part(slot), checkpoint.replies)
        )

    def resume(self, slot: int, before: Checkpoint, after: Checkpoint, flip: int) -> None:
        """Takes a connection from checkpoint `before`, which it `matches`, to `after`."""
        part = self.part(slot)
        self._streams.resume(slot, before.tcp, after.tcp, flip)
        self._tls_rows.resume(slot, before.tls, after.tls, flip)
        self._exchanges.resume(slot, after.replies)
        gone, waiting = self._frames.resume(slot, before.framing, after.framing, flip)
        if self._collector:
            for index in gone:
                self._collector.restore_request(index, None)
        for index, (row, body) in zip(waiting, after.requests, strict=True):
            self._exchanges.restore_request(index, part, row, self._walker.strings.number)
            if self._collector:
                self._collector.restore_request(index, body)

    def remember(self, segments: memoryview, start: int, stop: int) -> None:
        """Segments that `resume` skips, rows [start, stop): duplicates of them may follow."""
        self._streams.remember(segments, start, stop)

    def restore_complete(self, slot: int, number: int, state: Sequence[int]) -> bool:
        """Makes the connection that just began with packet `number` a complete one, with its COMPLETE_ columns as `state`.

        It leaves no rows. False: the connection did not begin there.
        """
        return self._streams.adopt_complete(slot, number, state)  # type: ignore[no-any-return]
