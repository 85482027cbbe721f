"""Numbers of the exchanges stage: what it remembers of a connection's newest reply, and how it judges throttle times."""

from __future__ import annotations

from dissectors.numbering import Numbering

# `last_replies[slot, column]`; these columns are the stage's checkpoint too.
_last_reply = Numbering()
LAST_REPLY_PART = _last_reply.column()  # part of the connection that has the slot
LAST_REPLY_END = (
    _last_reply.column()
)  # time of the newest reply's last byte; UNKNOWN: no reply yet, or the newest was lost
LAST_REPLY_LOST = _last_reply.column()  # 1: the newest reply was lost, or its end is not known
LAST_REPLY_MUTED_UNTIL = _last_reply.column()  # end of the throttle time that replies announced; UNKNOWN: none
LAST_REPLY_LAG = _last_reply.column()  # of the packet with its last byte (CHUNK_LAG)
LAST_REPLY_NUMBER = _last_reply.column()  # of that packet
LAST_REPLY_COVERS = _last_reply.column()  # as CHUNK_COVERS
LAST_REPLY_IS_HELD = _last_reply.column()  # 1: it was kept back, or may have been
LAST_REPLY_SILENT_TIME = (
    _last_reply.column()
)  # when the newest request that needs no reply (acks=0) ended; UNKNOWN: none
LAST_REPLY_COLUMNS = _last_reply.count

# The throttle time is whole milliseconds: a reply may come that much before its end.
MUTE_TOLERANCE_NS = 5_000_000
# Packets are in order up to this (`dissectors.formats.time_order_limits`): what is earlier by more has another clock.
SET_BACK_NS = 2_000_000_000
NS_PER_MS = 1_000_000
# A request that needs no reply may be worked on for so long, while the next one waits.
SILENT_WORK_NS = 50_000_000
# The socket takes what is smaller in one go; of larger replies the end shows how long the sending took.
LARGE_REPLY = 65_536
