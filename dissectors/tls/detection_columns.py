"""Numbers of TLS detection: what is known of each connection, and how far it looks."""

from __future__ import annotations

from dissectors.numbering import Numbering

# State of a connection: `state[slot, column]`.
_state = Numbering()
S_KIND = _state.column()
S_PART = _state.column()
S_FROM_SYN = _state.column()  # 1: the connection began with a SYN
S_BATCH = _state.column()  # the last batch that rows of this slot left
S_SEEN = _state.pair()  # stream bytes looked at, per side
S_NEXT = _state.pair()  # stream offset where a record header must be if the last one found was one; 0 none
S_DROPPED = _state.pair()  # bytes that nothing can read
S_DATA_TIME = _state.pair()  # of the newest data of a side; 0: none yet
S_ASKED_TIME = _state.pair()  # of the first data of the other side since then; 0: none yet
S_ASKED_NUMBER = _state.pair()  # its packet number
S_COLUMNS = _state.count

# What a connection is (S_KIND).
UNDECIDED = 0
NOT_TLS = 1
TLS = 2
UNREADABLE = 3  # TLS that nothing can decrypt: its bytes are counted and dropped

# A side that sent nothing for so long leaves a row: consumers' polls of 500 ms leave none.
LEAST_SILENCE_NS = 800_000_000

LONGEST_RECORD = 18_432  # 16 KiB of content, and 2 KiB of expansion (RFC 5246, 6.2.3)
MOST_LOOKED_AT = 65_536  # bytes of a side of a connection that was met in mid-flight

# Content types of records, and types of alerts and handshake messages (RFC 8446, sections 4, 5.1 and 6).
CHANGE_CIPHER_SPEC = 20
ALERT = 21
HANDSHAKE = 22
APPLICATION_DATA = 23
FATAL = 2
SERVER_HELLO = 2
