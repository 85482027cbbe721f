"""Reassembly: TCP segments in, the two byte streams of each connection out, in order, each byte once, with its capture time.

Rules, each with the file that keeps it
- The first copy of a byte wins (`delivery`, `out_of_order`). A byte's time is that of the packet that brought this copy.
  A segment with a wrong checksum from a side whose checksums are right is damaged: it waits until its peer acknowledges it or a
  better copy comes (`damaged`).
- Causal order: bytes of one side whose ACK number covers bytes of the other follow those (`causal_order`). So a reply never
  overtakes its request, whatever order the capture has them in.
- A hole that the peer acknowledged is given up when the reorder window has passed after that ACK: a number of segments of the
  same connection *and* a span of capture time (`acknowledgments`, `holes`).
- What comes out of a connection depends on its own segments only, never on others or on how the capture is cut into batches.
  Only the limits break that (`limits`).
- A side met in mid-flight starts at its lowest sequence number after a smaller window, or where its SYN says (`stream_start`).
- A 4-tuple used again is a new part. A SYN that comes late, behind bytes of its own connection, does not begin another
  (`handshake`).
- A segment that was captured twice is a duplicate: it is counted as one and as nothing else (`duplicates`).
- A connection captured at two points of its way is two views, each with its own part
  (`connection_views`).
- FIN and RST end a side when all before them is delivered (`ends`).

Strategy: a segment in order goes straight through as a reference into the block (`fast_path`). Everything else is buffered in
pages of one arena, in sequence order (`out_of_order`). What can be delivered is decided from the state alone, step by step
(`draining`), so that a full output or heap may interrupt anywhere and the next call goes on there.

Known weakness: when more than 2 GiB of a stream are missing from the capture, the rest looks like old bytes.
Sources: RFC 9293 (TCP), RFC 7323 (largest window, 1 GiB), RFC 5961 (resets that are not believed).
"""

import os

import cython

from dissectors.layout import *
from dissectors.matrix import check_room
from dissectors.tcp.checkpoint import (
    begin_span,
    can_checkpoint,
    endpoints,
    matches_checkpoint,
    note_segment,
    resume_behind,
    stop_after,
    take_checkpoint,
    take_touched,
)
from dissectors.tcp.complete_connections import adopt_complete, take_complete
from dissectors.tcp.connection_views import find_view
from dissectors.tcp.connections import find_sender, find_side, grow_slots, is_sent_by
from dissectors.tcp.draining import begin_batch, flush_slot
from dissectors.tcp.duplicates import forget_recent, remember_rows, remember_segments
from dissectors.tcp.fast_path import take_in_order
from dissectors.tcp.flow_hash import flow_hash, flows
from dissectors.tcp.idle_slots import claim_slots, enter_slots, find_idle, give_up_slots, leave_slots, write_flow_keys
from dissectors.tcp.out_of_order import grow_records
from dissectors.tcp.output_rows import take_parts, take_problems, take_queued
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.state import TcpState, clear_state
from dissectors.tcp.state_columns import *
from dissectors.tcp.thorough_path import take_thoroughly

# Others import from the head of a stage alone.
__all__ = ["Reassembly", "flows", "unwrap"]


@cython.final
@cython.cclass
class Reassembly(TcpState):
    """Reassembles all connections of a capture; `feed` it segments, then `finish`.

    `heap` holds the bytes of chunks whose CHUNK_BUFFER is 1, and may be another object after each call. `slots` is above every
    CHUNK_SLOT so far, `live` is how many have a connection, `views` above every PART_VIEW. `duplicates`: input (the upper bits
    of a packet's number) -> segments that were captured twice. `evicted`: open connections that were given up for newer ones,
    `segments_given_up`: later segments of these. `holes_given_up`: holes that were not waited for because of a memory limit.
    `next_part`: number of the part that begins next. `part_rows`, `queued_rows`: rows that `take_parts` and `take_queued`
    would give.

    In a task (`in_task`), a run over pieces of a capture, it writes SEGMENT_PART of each segment and takes checkpoints of
    connections (`dissectors.tcp.checkpoint`). What lies between two of them does not depend on what lies before but for some
    numbers, so the run that joins the tasks can `resume` behind it. Of a complete connection nothing depends on what lies
    before: `take_complete` gives them, and `adopt_complete` puts them into the other run.
    """

    def __init__(
        self,
        seed=None,
        reorder_segments=64,
        reorder_ns=20_000_000,
        max_buffered_bytes=256 << 20,
        max_buffered_bytes_per_side=16 << 20,
        max_connections=65_536,
        heap_bytes=4 << 20,
        first_part=0,
        in_task=False,
    ):
        """`seed` (64 bits, random by default) keeps hostile captures from choosing addresses that collide in the flow table.

        Limits in bytes count pages of 1 KiB: an out-of-order segment takes at least one. `heap_bytes`: how many buffered
        bytes one call hands on before it stops with WHY_HEAP_FULL. `first_part`: number of the first part.
        """
        self.seed = int.from_bytes(os.urandom(8), "little") if seed is None else seed & 0xFFFFFFFFFFFFFFFF
        self.reorder_segments = reorder_segments
        self.reorder_ns = reorder_ns
        self.max_buffered = max(1, max_buffered_bytes // PAGE_BYTES)
        self.max_buffered_per_side = max(1, max_buffered_bytes_per_side // PAGE_BYTES)
        self.max_released = max(1, heap_bytes // PAGE_BYTES)
        self.max_live = max(1, max_connections)
        self.in_task = in_task
        self.first_part = first_part
        clear_state(self)
        forget_recent(self)
        grow_slots(self)
        grow_records(self)

    def take_parts(self):
        """(matrix of PART_ columns, rows) of the slots freed since the last call."""
        return take_parts(self)

    def take_queued(self):
        """(matrix of QUEUED_ columns, rows) of the segments since the last call that waited in a queue before the capture, by the
        least lag of their side so far."""
        return take_queued(self)

    def take_problems(self):
        """(matrix of PROBLEM_ columns, rows, rows dropped beyond the limit) since the last call.

        PROBLEM_OFFSET is a TCP sequence number.
        """
        return take_problems(self)

    @cython.boundscheck(False)
    def feed(
        self,
        block: cython.const[cython.uchar][::1],
        segments: cython.longlong[:, ::1],
        rows: cython.longlong,
        start: cython.longlong,
        chunks: cython.longlong[:, ::1],
    ):
        """Takes segment rows [start, rows) whose payloads lie in `block`, writes chunk rows into `chunks`.

        Returns (next row, chunk rows written, why). WHY_OUTPUT_FULL and WHY_HEAP_FULL: use the chunks up, then call
        again from the next row. WHY_DONE before the last row: a connection has come to where `stop_after` said. Raises ValueError
        unless `chunks` has room for 4 rows.
        """
        row: cython.longlong = start
        why: cython.longlong = begin_batch(self, chunks)
        found: cython.longlong = -2
        key: cython.longlong = 0
        check_room(segments, SEGMENT_COLUMNS, rows)
        self.block = block
        self.segments = segments
        self.first_row = start
        while why == WHY_DONE and row < rows:
            if found >= 0 and not is_sent_by(self, found, row):
                # Often the other direction of the same connection.
                found = found ^ 1 if is_sent_by(self, found ^ 1, row) else -2
            if found < 0:
                key = flow_hash(
                    self.seed,
                    segments[SEGMENT_TAP, row],
                    segments[SEGMENT_SRC_HIGH, row],
                    segments[SEGMENT_SRC_LOW, row],
                    segments[SEGMENT_SRC_PORT, row],
                    segments[SEGMENT_DST_HIGH, row],
                    segments[SEGMENT_DST_LOW, row],
                    segments[SEGMENT_DST_PORT, row],
                )
                if not self.begins_part:
                    found = find_side(self, key, row)
                    self.new_view = 0
                    self.new_capture_point = 0
                    self.new_network = 0
            if found >= 0 and (
                self.side[found, SIDE_TTL] != segments[SEGMENT_TTL, row]
                or self.side[found, SIDE_SCOPE] != segments[SEGMENT_SCOPE, row]
            ):
                found = find_view(self, found, row)
            if found < 0 or not take_in_order(self, found, row):
                why = take_thoroughly(self, found, key, row)
                found = -2
                if why != WHY_DONE and self.draining < 0:
                    break
                self.begins_part = False
                if self.in_task and note_segment(self, self.newest_side, row):
                    row += 1
                    break
            elif self.in_task and note_segment(self, found, row):
                row += 1
                break
            row += 1
        remember_rows(self, row)
        self.block = None
        self.segments = None
        self.chunks = None
        return row, self.chunk_rows, why

    def finish(self, chunks: cython.longlong[:, ::1]):
        """The capture has ended: buffered bytes are delivered, holes become gaps, each slot is freed.

        Returns (chunk rows written, why); call again until WHY_DONE. The stage is then as new, except for part numbers.
        """
        why: cython.longlong = begin_batch(self, chunks)
        slot: cython.longlong
        while why == WHY_DONE and self.finish_slot < self.slots:
            slot = self.finish_slot
            if self.conn[slot, CONN_MODE] & MODE_LIVE:
                why = flush_slot(self, slot)
            if why == WHY_DONE:
                self.finish_slot += 1
        if why == WHY_DONE:
            self.finish_slot = 0
            self.eviction_heap = None
            self.backlogs = []
            forget_recent(self)
        self.chunks = None
        return self.chunk_rows, why

    # ---- connections that leave their slots while they are idle: `idle_slots` ----

    def slot_state(self):
        """(number of the column that holds the part, ((matrix of state, rows for each slot), ...))."""
        return CONN_PART, ((self.conn_memory, 1), (self.side_memory, 2))

    def flow_keys(
        self,
        segments: cython.longlong[:, ::1],
        start: cython.longlong,
        stop: cython.longlong,
        keys: cython.longlong[::1],
    ):
        """Writes the key of the flow of each segment row of [start, stop): connections of a flow have its key."""
        write_flow_keys(self, segments, start, stop, keys)

    def idle(self):
        """Connections that may leave their slots, the longest idle first: (slot, part, key of the flow, newest time, whether both
        sides have ended, whether only SYNs of one side were seen)."""
        return find_idle(self)

    def leave(self, slots):
        """Frees slots of connections that are kept elsewhere."""
        leave_slots(self, slots)

    def claim(self, count):
        """So many free slots. Their rows of state are to be written, then `enter` is to be called."""
        return claim_slots(self, count)

    def enter(self, slots):
        """The connections in these claimed slots are there again."""
        enter_slots(self, slots)

    def give_up(self, chunks: cython.longlong[:, ::1], slots):
        """Gives up connections, which are taken from the list `slots`. Returns (chunk rows written, why); call again until
        WHY_DONE."""
        why: cython.longlong = give_up_slots(self, chunks, slots)
        self.chunks = None
        return self.chunk_rows, why

    # ---- a capture read in tasks ----

    def take_touched(self, fresh: cython.longlong):
        """(slot, part, whether its span is spoiled, whether it can be checkpointed) of connections with segments since the
        last call.

        Those with less than `fresh` bytes since their last checkpoint (an eighth of it where no span has begun) wait for the
        next call, unless their span is spoiled. Bytes are payload and a header for each segment.
        """
        return take_touched(self, fresh)

    def take_closed(self):
        """Numbers of the parts whose slots were freed since the last call."""
        closed = self.closed
        self.closed = []
        return closed

    def take_complete(self):
        """array of int64: COMPLETE_ columns, one connection after the other, of those that ended by themselves since the last
        call, began with a bare SYN and were seen at one capture point."""
        return take_complete(self)

    def take_duplicates(self):
        """(part, input) of each segment that was captured twice since the last call."""
        duplicates = self.new_duplicates
        self.new_duplicates = []
        return duplicates

    def can_checkpoint(self, slot: cython.longlong):
        """Whether nothing of this connection is buffered or awaited, both sides go on, and it was seen at one capture point."""
        return can_checkpoint(self, slot)

    def checkpoint(self, slot: cython.longlong):
        """The checkpoint of a connection, where one can be taken: a list of int (TCP_CHECKPOINT_ columns)."""
        return take_checkpoint(self, slot)

    def part_of(self, slot: cython.longlong):
        """The number of the part that has this slot."""
        return self.conn[slot, CONN_PART]

    def endpoints(self, slot: cython.longlong):
        """SEGMENT_ column -> value of a segment that side 0 would send."""
        return endpoints(self, slot)

    def begin_span(self, slot: cython.longlong, since: cython.longlong):
        """A span begins behind the checkpoint just taken; segments before the time `since` (ns) spoil it. 0: none begins."""
        return begin_span(self, slot, since)

    def stop_after(self, slot: cython.longlong, side: cython.longlong, ahead: cython.longlong):
        """`feed` shall stop when this side has sent `ahead` bytes more."""
        return stop_after(self, slot, side, ahead)

    def adopt_complete(self, slot: cython.longlong, number: cython.longlong, row):
        """Puts the connection that just began with packet `number` into the state that it had in another run at its end, a row of
        `take_complete`.

        False: it did not begin there. An adopted connection leaves no rows. A segment of it that comes later, and begins no new
        connection, disturbs it.
        """
        return adopt_complete(self, slot, number, row)

    def take_disturbed(self):
        """Numbers of the parts that were adopted and disturbed since the last call."""
        disturbed = self.disturbed
        self.disturbed = []
        return disturbed

    def remember(self, segments: cython.longlong[:, ::1], start: cython.longlong, stop: cython.longlong):
        """Remembers segments that `resume` passes over, rows [start, stop): a duplicate of one of them may follow."""
        return remember_segments(self, segments, start, stop)

    def find(self, segments: cython.longlong[:, ::1], row: cython.longlong):
        """(slot, side) of the connection whose segment this is, by its addresses; (-1, 0) when there is none."""
        return find_sender(self, segments, row)

    def matches(self, slot: cython.longlong, checkpoint, flip: cython.longlong):
        """Whether the connection is at this checkpoint of another run, whose side 0 is side `flip` here."""
        return matches_checkpoint(self, slot, checkpoint, flip)

    def resume(self, slot: cython.longlong, before, after, flip: cython.longlong):
        """Takes the connection from the checkpoint `before`, which it matches, to `after`, a later one of the same run."""
        return resume_behind(self, slot, before, after, flip)
