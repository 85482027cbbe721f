"""The TCP header: writes a row of the segments matrix."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, u8, u16, u32
from dissectors.packet.shards import is_of_shard
from dissectors.packet.stt import parse_stt
from dissectors.packet.tcp_checksum import checksum_of
from dissectors.packet.tcp_options import read_options


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def parse_tcp(p: PacketState) -> cython.longlong:
    """RFC 9293. A header that the snap length cut still makes a row when its flags were captured: reassembly then knows how many
    bytes were sent."""
    at: cython.longlong = p.at
    row: cython.longlong = p.row
    if at + 20 > p.wire:
        return -2 - SEEN_MALFORMED
    if at + 14 > p.end:
        return -2 - SEEN_CUT
    header: cython.longlong = (u8(p, at + 12) >> 4) * 4
    if header < 20 or at + header > p.wire or p.wire - at > LARGEST_SEGMENT:
        return -2 - SEEN_MALFORMED
    source: cython.longlong = u16(p, at)
    target: cython.longlong = u16(p, at + 2)
    if target == STT_PORT:
        layer: cython.longlong = parse_stt(p)
        if layer != -2 - SEEN_TCP:
            return layer
    payload: cython.longlong = at + header
    p.tally[TALLY_TCP_PORTS, source] += 1
    if source != target:
        p.tally[TALLY_TCP_PORTS, target] += 1
    p.is_ours = is_of_shard(p, source + target)
    if not p.is_ours:
        return -2 - SEEN_TCP
    p.out[SEGMENT_SRC_HIGH, row] = p.source_high
    p.out[SEGMENT_SRC_LOW, row] = p.source_low
    p.out[SEGMENT_DST_HIGH, row] = p.destination_high
    p.out[SEGMENT_DST_LOW, row] = p.destination_low
    p.out[SEGMENT_SRC_PORT, row] = source
    p.out[SEGMENT_DST_PORT, row] = target
    p.out[SEGMENT_SEQ, row] = u32(p, at + 4)
    p.out[SEGMENT_ACK, row] = u32(p, at + 8)
    p.out[SEGMENT_FLAGS, row] = u8(p, at + 13)
    p.out[SEGMENT_WINDOW, row] = u16(p, at + 14) if at + 16 <= p.end else UNKNOWN
    p.out[SEGMENT_OFFSET, row] = payload if payload < p.end else p.end
    p.out[SEGMENT_CAPTURED, row] = p.end - payload if payload < p.end else 0
    p.out[SEGMENT_LENGTH, row] = p.wire - payload
    p.out[SEGMENT_HEADERS, row] = payload - p.ip_at
    p.out[SEGMENT_TTL, row] = p.ttl
    p.out[SEGMENT_IP_ID, row] = p.ip_id
    if p.ip_id <= 0:
        p.out[SEGMENT_IP_ID, row] = -1 - u16(p, at + 16) if at + 18 <= p.end else UNKNOWN
    p.out[SEGMENT_TAP, row] = p.base_scope
    p.out[SEGMENT_SCOPE, row] = p.scope
    p.out[SEGMENT_CHECKSUM, row] = checksum_of(p, payload)
    read_options(p, at, header)
    return -2 - SEEN_TCP
