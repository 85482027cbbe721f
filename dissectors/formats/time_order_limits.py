"""Numbers of the reordering by time: how far a packet may be from its place, columns of packets that wait, and of steps of time."""

from __future__ import annotations

from dissectors.layout import PACKET_COLUMNS as _PACKET_COLUMNS

# A packet waits for so many packets, or so many bytes of the capture, behind it: while times were seen to run backwards
# lately, and at the beginning of a capture, where nothing is known yet; and where all was in order for long.
WIDE_PACKETS = 4_096
WIDE_BYTES = 2 << 20
NARROW_PACKETS = 256
NARROW_BYTES = 256 << 10
# The window stays wide for so many packets behind the newest one that was out of order, and for the first ones of a capture.
CALM_PACKETS = 65_536
FIRST_PACKETS = 8_192
# A time that is further back is a clock that was set, or another capture appended: nothing is moved across.
WINDOW_NS = 2_000_000_000
FOREVER_NS = (1 << 63) - 1

# Columns of a packet that waits: those of the packets matrix, and these.
WAIT_KEY = _PACKET_COLUMNS  # its place in the order, ns
WAIT_POSITION = _PACKET_COLUMNS + 1  # packets before it
WAIT_TURN = _PACKET_COLUMNS + 2  # orders packets of the same key: packets before it, when it got its key
WAIT_COLUMNS = _PACKET_COLUMNS + 3

# A pause: jobs that run by the hour, day or week leave a host without a packet for that long, but hardly one pauses for a month.
PAUSE_NS = 30 * 86_400 * 1_000_000_000
# Of a capture so many steps are kept; all that comes behind them counts as jumping.
MOST_STEPS = 2_048
STEP_INTERFACES = 16

# Columns of a step of time: the packet behind it, and the times of both packets.
STEP_NUMBER = 0
STEP_BEFORE = 1
STEP_AFTER = 2
STEP_COLUMNS = 3
