"""Numbers of the frame picker."""

from __future__ import annotations

# The table of wanted frames has a row for each API key and a column for each FRAME_EVENT.
LEAST_KEY = -2  # FRAME_KEY of a bare SASL token
PICK_KEYS = 130
EVENTS = 5

# A body of at most this size is remembered as it is, a longer one by its digest.
SHORT_BODY_BYTES = 1_024
# Memory that a remembered body takes beside its bytes, about.
ENTRY_BYTES = 250
