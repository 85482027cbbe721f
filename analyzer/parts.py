"""Connections as one run saw them: what reassembly and framing counted, side by side, told by client and broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analyzer.raw import CLOSES, PROTOCOLS
from dissectors import layout
from dissectors.kafka.frames import identity

if TYPE_CHECKING:
    from analyzer.pipeline import Pipeline

# Raw column -> PART_ pair and TALK_ pair that it is made of.
PART_PAIRS = {
    "packets": layout.PART_PACKETS,
    "bytes": layout.PART_BYTES,
    "retransmitted": layout.PART_RETRANSMITTED,
    "reordered": layout.PART_REORDERED,
    "gaps": layout.PART_GAPS,
    "gap_bytes": layout.PART_GAP_BYTES,
    "conflicts": layout.PART_CONFLICTS,
    "zero_windows": layout.PART_ZERO_WINDOW,
}
# Bytes passed over, by the words of the final table.
SKIPPED = {
    "sync": (layout.SKIP_UNSYNCED, layout.SKIP_LOST),
    "malformed": (layout.SKIP_BAD,),
    "unfinished": (layout.SKIP_UNFINISHED, layout.SKIP_HEADERLESS),
    "foreign": (layout.SKIP_NOT_KAFKA,),
}


def rows(pipeline: Pipeline) -> Iterator[dict[str, Any]]:
    """One dictionary per part, in the order of closing; columns of the raw table `parts`."""
    for part in pipeline.parts:
        number = part[layout.PART_NUMBER]
        yield _row(part, pipeline.talks[number]) | {"whole_requests": int(number in pipeline.whole_requests)}


def _row(part: tuple[int, ...], talk: tuple[int, ...]) -> dict[str, Any]:
    known = talk[layout.TALK_CLIENT_SIDE]
    client = known if known != layout.UNKNOWN else 0
    first = part[layout.PART_FIRST_TIME]
    row: dict[str, Any] = {
        "part": part[layout.PART_NUMBER],
        "connection": identity(talk[layout.TALK_FLOW], first, 0),
        "first_time_ns": first,
        "last_time_ns": part[layout.PART_LAST_TIME],
        "seen_from": "syn" if part[layout.PART_SYN] & 1 else "midstream",
        "close": CLOSES[part[layout.PART_CLOSE]],
        "rtt_ns": _known(part[layout.PART_RTT]),
        "syn_ack_ns": _known(part[layout.PART_SYN_ACK]),
        "ack_ns": _known(part[layout.PART_ACK]),
        "protocol": PROTOCOLS[talk[layout.TALK_PROTOCOL]],
        "requests": talk[layout.TALK_REQUESTS],
        "replies": talk[layout.TALK_REPLIES] + talk[layout.TALK_ORPHANS],
        "matched": talk[layout.TALK_REPLIES],
        "chained": talk[layout.TALK_CHAINED],
        "tokens": talk[layout.TALK_TOKENS],
        "client_side": client,
    }
    for name, side in (("client", client), ("broker", 1 - client)):
        row |= _endpoint(part, name, side)
        row |= {f"{name}_{column}": part[at + side] for column, at in PART_PAIRS.items()}
        row[f"{name}_stream_bytes"] = talk[layout.TALK_STREAM + side]
        row[f"{name}_framed_bytes"] = talk[layout.TALK_FRAMED + side]
        for word, reasons in SKIPPED.items():
            skipped = sum(talk[layout.TALK_SKIPPED + 2 * reason + side] for reason in reasons)
            row[f"{name}_skipped_{word}_bytes"] = skipped
    return row


def _endpoint(part: tuple[int, ...], name: str, side: int) -> dict[str, Any]:
    high, low = (layout.PART_B_HIGH, layout.PART_B_LOW) if side else (layout.PART_A_HIGH, layout.PART_A_LOW)
    port = layout.PART_B_PORT if side else layout.PART_A_PORT
    return {f"{name}_address": address_text(part[high], part[low]), f"{name}_port": part[port]}


def _known(value: int) -> int | None:
    return None if value == layout.UNKNOWN else value


def address_text(high: int, low: int) -> str:
    """An address of two signed 64-bit halves as people write it; IPv4 is ::ffff:a.b.c.d inside."""
    low &= (1 << 64) - 1
    if high == 0 and low >> 32 == 0xFFFF:
        return ".".join(str(low >> shift & 255) for shift in (24, 16, 8, 0))
    from ipaddress import IPv6Address

    return str(IPv6Address((high & (1 << 64) - 1) << 64 | low))


def part_schema() -> dict[str, str]:
    """Column -> Arrow type of the raw table `parts`."""
    sides = ("client", "broker")
    counts = [*PART_PAIRS, "stream_bytes", "framed_bytes", *(f"skipped_{word}_bytes" for word in SKIPPED)]
    numbers = (
        "part connection first_time_ns last_time_ns rtt_ns syn_ack_ns ack_ns requests replies matched chained tokens"
    )
    types = dict.fromkeys(numbers.split(), "int64") | dict.fromkeys(("seen_from", "close", "protocol"), "string")
    types |= {"client_side": "int16", "whole_requests": "int16"}
    for side in sides:
        types |= {f"{side}_address": "string", f"{side}_port": "int32"}
        types |= {f"{side}_{name}": "int64" for name in counts}
    return types
