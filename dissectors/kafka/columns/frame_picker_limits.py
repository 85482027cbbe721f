"""Numbers of the frame picker."""

from __future__ import annotations

# The table of wanted frames has a row for each API key and a column for each FRAME_EVENT.
LEAST_KEY = -2  # FRAME_KEY of a bare SASL token
PICK_KEYS = 130
EVENTS = 5

# What is done with a wanted frame.
PICK_NOTHING = 0
PICK_BODY = 1  # its body is read, unless an equal one was
PICK_ONE = 2  # its body is read
PICK_REQUEST = 3  # its body waits for the reply
PICK_REPLY = 4  # is read with its request
PICK_REPEATED = 5  # the same, unless an equal exchange was
PICK_ENDED = 6  # its request is read alone
PICK_TOKEN = 7  # a bare SASL token: a request, or a reply

# A body of at most this size is remembered as it is, a longer one by its digest.
SHORT_BODY_BYTES = 1_024
# Memory that a remembered body takes beside its bytes, about.
ENTRY_BYTES = 250

# Columns of a row of facts that it does not share with others.
FACT_KEYS = 2
