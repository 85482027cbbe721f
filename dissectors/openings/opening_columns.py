"""Numbers of the search for openings: what is known of each connection, and the first bytes that an opening can have."""

from __future__ import annotations

from dissectors.numbering import Numbering

# State of a connection: `state[slot, column]`.
_state = Numbering()
S_KIND = _state.column()
S_PART = _state.column()
S_BATCH = _state.column()  # the last batch that rows of this slot left
S_COLUMNS = _state.count

# S_KIND.
SETTLED = 0  # what comes is no opening, or the opening is over
FRESH = 1  # began with a SYN, and no byte of it has come
LATE = 2  # began without a SYN, and no byte of it has come
HELD = 3  # its first bytes may be an opening: its rows leave the batch

# The first two bytes of openings.
LETTER_P = 0x50  # PROXY v1: "PROXY ..."
LETTER_R = 0x52
LETTER_C = 0x43  # "CONNECT ..."
LETTER_O = 0x4F
RETURN = 0x0D  # PROXY v2: \r\n\r\n\0\r\nQUIT\n
NEWLINE = 0x0A
SOCKS_4 = 4
SOCKS_5 = 5
SOCKS_CONNECT = 1
