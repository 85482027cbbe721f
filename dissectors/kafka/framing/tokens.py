"""Bare SASL tokens: frames without Kafka headers (KIP-152), behind SaslHandshake v0 or at the start (GSS-API).

A token of the client waits for one of the broker. Where nothing is lost the frame behind the handshake is a token; later
ones, until a request header turns up.
"""

import cython

from dissectors.kafka.framing.headers import is_header_among_tokens
from dissectors.kafka.framing.in_flight import add_request, is_expected_reply_at, is_token_reply_due, remove_oldest
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def is_token_request(f: FramingState, slot: i64, buffer: i64, at: i64, held: i64) -> cython.bint:
    """The first frame after SaslHandshake v0 is a token; later ones until a request header turns up.

    Where bytes are missing, or the answer to the handshake is, the first frame is judged too.
    """
    sure: cython.bint = f.talk[slot, C_TOKENS] == TOKENS_NEXT
    if sure and f.side[2 * slot + f.talk[slot, TALK_CLIENT_SIDE], S_LOSSES] == 0:
        f.talk[slot, C_TOKENS] = TOKENS_ON
        return True
    if held >= 14 and is_header_among_tokens(f, buffer, at, held):
        f.talk[slot, C_TOKENS] = TOKENS_NONE
        return False
    f.talk[slot, C_TOKENS] = TOKENS_ON
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_token_reply(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, held: i64) -> cython.bint:
    """Answers to tokens have no header. After a loss it may have been the answer that is gone."""
    if not is_token_reply_due(f, slot):
        return False
    return f.side[s, S_LOSSES] == f.wait[f.talk[slot, C_FIRST], W_LOSSES] or not is_expected_reply_at(
        f, slot, buffer, at, at + held
    )


@cython.cfunc
@cython.exceptval(-1)
def take_token(f: FramingState, slot: i64, request: cython.bint) -> cython.int:
    row: i64 = f.out_used
    f.talk[slot, TALK_TOKENS] += 1
    f.out[FRAME_EVENT, row] = FRAME_TOKEN_SEEN
    f.out[FRAME_KEY, row] = TOKEN
    f.out[FRAME_VERSION, row] = UNKNOWN
    f.out[FRAME_CORRELATION, row] = UNKNOWN
    if request:
        f.out[FRAME_STATUS, row] = STATUS_PENDING
        add_request(f, slot, row, 0)
        return 0
    f.out[FRAME_REQUEST, row] = f.talk[slot, C_FIRST]
    f.out[FRAME_ID, row] = f.wait[f.talk[slot, C_FIRST], W_ID]
    remove_oldest(f, slot)
    return 0
