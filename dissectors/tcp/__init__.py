"""TCP reassembly, segment rows to bytes in order per direction; nothing here knows what the bytes mean.

- The time of a byte is the time of the packet that first brought it; the first copy of a byte wins.
- A segment with a wrong TCP checksum, from a side whose newest checksum was right, is damaged (`tcp/damaged.py`): it
  waits until its receiver acknowledges it, which shows that it was whole, or until a better copy replaces it. A
  checksum that was left to the network card counts as unknown. It is recognised before the payload is summed
  (`packet/tcp_checksum.py`).
- Causal order: bytes whose ACK number covers bytes of the other direction leave after those, whatever order the
  capture has them in. Framing relies on it: a request is always seen before its reply.
- A hole that the peer acknowledged is given up after a window of segments and of time (`--reorder-packets`,
  `--reorder-time`). What comes out of a connection depends on its own segments only, never on batches or on other
  connections; only limits break that.
- Beyond `--max-connections` a closed connection is given up first, else the one idle for longest. While more than a
  quarter of the limit are half-open, only half-open ones are given up, so that a SYN flood harms nothing but itself
  (`eviction_order.py`). Segments of a flow that was given up are ignored until its next SYN (`limits.py`): else each
  would begin a new part, for which another connection would have to go.
- FIN and RST: `ends.py`. A RST whose sequence number is not believed is a problem (`reset_ignored`).
- A segment captured twice is a duplicate: same TTL, same IP id, within 10 ms, among the 4,096 segments before it. It
  counts as nothing else. Where there is no IP id, the TCP checksum takes its place (`SEGMENT_IP_ID` is -1 - checksum).
- A connection captured at several points of its way is one *view* per point (`tcp/connection_views.py`). A second
  view begins when the TTL differs *and* the packet is from another interface or input, or is a duplicate; or when a
  copy of a packet comes in another scope (VLAN, tunnel) within a second. Another scope alone begins no view: a tunnel
  may number each direction, and a mirror port may tag only one. Equal addresses belong to two *networks* only where
  sequence numbers do not fit together.
- Captured before and behind a translation of its addresses, a connection is two connections to this stage. What it
  shows of their sequence numbers and clocks makes them views of one (`query/resolve/view_legs.sql`).
- `query/resolve/part_views.sql` chooses the view that gives the rows of a connection; all SQL of resolve reads that
  one alone. What `--tap` names (`SEGMENT_TAP`) is never joined.
- The arena for bytes out of order is mapped, not grown: doubling by copying would need twice `--max-reassembly` for a
  moment. A quarter of that limit is for bytes out of order, the rest for unfinished frames.
- A datagram put together from IP fragments lies in no block: the packet stage stops behind its row (`WHY_DATAGRAM`),
  and `inputs/input.py` hands that row on with a block of its own.
- Captures that overlap in time are merged by time (`inputs/engine.py`, `tcp/merge.py`): only then are segments
  copied.

Whose time it was (`timing.py`, then `query/resolve/part_ways.sql` and `exchanges.sql`):

- The clock of a packet's sender is in the packet (TCP timestamp, 1 ms). Capture time less timestamp is a *lag*. The
  difference from the least lag of its direction is what a packet spent in queues before the capture, and so tells
  when it left its host. The least lag is known at the end of the connection: stages hand on raw lags, and SQL
  subtracts the least one. The result is trusted only where no packet seems to have left before what it answers had
  arrived.
- If the capture was taken beside the broker (round trip below 0.3 ms, TTL not lowered), a request arrives when it is
  captured. Elsewhere its arrival follows from an ACK that was sent at once, or from the fact that nothing else was on
  the way; else it is an interval. The broker begins with a request when it has arrived, the reply before has left and
  no mute runs on.
- The way to the broker is a lower bound only where a kernel answered at once (a handshake, an ACK that was not
  delayed): a reply alone may be slow or far. There is no such bound where packets queued before the capture, nor in
  the first half second of a connection seen in mid-flight, when bytes sent before the capture may still hold up
  others (`unseen_to_ns`).
- A reply that its host held back (it was written before it left) gives no lower bound. This follows from the packets
  before it, so reassembly decides it (`CHUNK_HELD`, see `held_after` in `timing.py`).
- No remainder is ever called the broker's: `broker_ns` is null where the bounds are far apart, and `broker_evidence`
  says why.
- A task that sees a connection in mid-flight does not know its segment size: fewer ACKs count as sent at once, and
  percentiles of round trips differ from those of one run. Runs that are resolved apart do not see other connections
  between the same hosts, and give an interval where one run gives a value. Both are left out by
  `tests/support/runs_apart.py`.
- A proxy has a clock, a TTL and ACKs of its own: behind one "the broker" is the proxy and all behind it.
- Where the hosts' clocks drift apart by more than 3 ms in a connection's life its clock is lost (`broker_lag_ns`
  null).
- Packets that waited for more than a tick are rows (`queued_packets`, 0.3 % of the packets on quiet ways). Where one
  passes the capture while the next is in the queue already, the link was busy in between: blocks of 20 such packets,
  of all connections of two hosts or of one, have one rate if the link is at its limit
  (`metrics/views/materialized/full_links.sql`). A task that begins within a queue has fewer of these rows than one
  run (`tests/support/parts_agree.py`).
"""
