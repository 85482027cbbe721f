"""Bare SASL tokens: frames without Kafka headers (KIP-152), behind SaslHandshake v0 or at the start (GSS-API).

A token of the client waits for one of the broker. Where nothing is lost the frame behind the handshake is a token; later
ones, until a request header turns up. That ends the exchange: a client sends nothing while it waits, so a token that is still in
flight then expected no answer (the last one of GSS-API, RFC 4752, 3.1).
"""

import cython

from dissectors.kafka.framing.in_flight import add_request, is_expected_reply_at, is_token_reply_due, remove_oldest
from dissectors.kafka.framing.other_protocols import is_gssapi
from dissectors.kafka.framing.request_headers import is_header_among_tokens
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def is_token_request(f: FramingState, slot: i64, buffer: i64, at: i64, kept: i64) -> cython.bint:
    """Is this frame of the client a token? It moves CONN_TOKENS on.

    The first frame after the handshake is judged by its bytes too where bytes of the client, or the reply to the handshake,
    were lost.
    """
    sure: cython.bint = f.conn[slot, CONN_TOKENS] == TOKENS_NEXT
    if sure and f.side[2 * slot + f.conn[slot, FRAMING_CLIENT_SIDE], SIDE_LOSSES] == 0:
        f.conn[slot, CONN_TOKENS] = TOKENS_ON
        return True
    if kept >= 14 and is_header_among_tokens(f, buffer, at, kept):
        f.conn[slot, CONN_TOKENS] = TOKENS_NONE
        return False
    f.conn[slot, CONN_TOKENS] = TOKENS_ON
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_bare_gssapi(f: FramingState, slot: i64, buffer: i64, at: i64, kept: i64) -> cython.bint:
    """Does a client send a token of GSS-API without a SaslHandshake before it, behind other requests? Tokens follow then."""
    if not is_gssapi(f, buffer, at, at + kept):
        return False
    f.conn[slot, CONN_TOKENS] = TOKENS_ON
    return True


@cython.cfunc
@cython.exceptval(-1)
def waive_tokens(f: FramingState, slot: i64) -> cython.bint:
    """Marks tokens in flight as such that expect no answer, as a request follows them; true when there are any. `f.overtaken` is
    the last of them."""
    index: i64 = f.conn[slot, CONN_OLDEST_REQUEST]
    f.overtaken = -1
    while index >= 0:
        if f.requests[index, REQUEST_KEY] == TOKEN_REQUEST_KEY:
            f.requests[index, REQUEST_ACKS_UNSEEN] = 1
            f.overtaken = index
        index = f.requests[index, REQUEST_NEXT]
    return f.overtaken >= 0


@cython.cfunc
@cython.exceptval(-1)
def is_token_reply(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, kept: i64) -> cython.bint:
    """Is this frame of the broker the answer to a token? Such answers have no header. After a loss the answer itself may be
    what is missing: then a frame that looks like an expected reply is one."""
    if not is_token_reply_due(f, slot):
        return False
    return f.side[s, SIDE_LOSSES] == f.requests[
        f.conn[slot, CONN_OLDEST_REQUEST], REQUEST_LOSSES
    ] or not is_expected_reply_at(f, slot, buffer, at, at + kept)


@cython.cfunc
@cython.exceptval(-1)
def take_token(f: FramingState, slot: i64, request: cython.bint) -> cython.int:
    """Writes the columns of a token: of the client (`request`), or of the broker, which answers the oldest in flight."""
    row: i64 = f.out_used
    f.conn[slot, FRAMING_TOKENS] += 1
    f.out[FRAME_EVENT, row] = FRAME_TOKEN_SEEN
    f.out[FRAME_KEY, row] = TOKEN_KEY
    f.out[FRAME_VERSION, row] = UNKNOWN
    f.out[FRAME_CORRELATION, row] = UNKNOWN
    if request:
        f.out[FRAME_STATUS, row] = STATUS_PENDING
        add_request(f, slot, row, 0)
        return 0
    f.out[FRAME_REQUEST, row] = f.conn[slot, CONN_OLDEST_REQUEST]
    f.out[FRAME_ID, row] = f.requests[f.conn[slot, CONN_OLDEST_REQUEST], REQUEST_ID]
    remove_oldest(f, slot)
    return 0
