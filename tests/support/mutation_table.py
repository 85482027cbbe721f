"""The table of mutations: what packets look like behind networks, hosts and capture programs, each made of the base.

`changes` names the columns that a mutation changes legitimately; packet numbers always may.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from capture_tools import block, enhanced, interface, option, pcap_file, section
from mutations import (
    ACK,
    CWR,
    ECE,
    FIN,
    PSH,
    RST,
    SEQUENCES,
    SYN,
    URG,
    Frame,
    Segment,
    again,
    cut,
    damaged,
    each,
    fragments,
    fragments_6,
    from_syn,
    later,
    merged,
    options,
    plain,
    segments,
    shifted,
    with_v6,
)
from one_base import MACS

# Columns that tell when and how fast.
TIMES = ("request_time_ns", "request_end_ns", "response_time_ns", "response_end_ns", "latency_ns", "service_ns")
TIMES += ("total_ns", "send_ns", "receive_ns", "queue_ns")
ADDRESSES = ("client_address", "broker_address")


class Mutation(NamedTuple):
    """A row of the table. `write` makes the file of its frames. `damaged`: how many segments are counted as that."""

    name: str
    make: Callable[[], list[Frame]]
    changes: tuple[str, ...] = ()
    write: Callable[[list[Frame]], bytes] | None = None
    damaged: int = 0


def some(
    step: int, change: Callable[[Segment], Iterable[Segment | Frame]]
) -> Callable[[Segment, int], Iterable[Segment | Frame]]:
    """Changes one in `step` segments with payload."""
    return lambda one, number: change(one) if one.data and number % step == 3 else [one]


def extra(step: int, change: Callable[[Segment], Iterable[Segment]]) -> Callable[[Segment, int], Iterable[Segment]]:
    """The same without the segments themselves."""
    return lambda one, number: change(one) if one.data and number % step == 3 else []


def middle(one: Segment) -> int:
    return max(1, len(one.data) // 2)


def keep_alive(size: int) -> Callable[[Segment, int], Iterable[Segment]]:
    """A byte before the next one, or none, of a side that has nothing to send, and the answer (RFC 9293, 3.8.4)."""

    def change(one: Segment, number: int) -> Iterable[Segment]:
        yield one
        if number % 9 == 5 and one.flags == ACK and not one.data:
            before = (one.seq - 1) % SEQUENCES
            yield replace(one, seq=before, data=bytes(size), ip_id=one.ip_id + 20_000)
            yield replace(
                one, source=one.target, target=one.source, ports=one.ports[::-1], side=1 - one.side, seq=one.ack,
                ack=one.seq, ip_id=one.ip_id + 30_000,
            )  # fmt: skip

    return change


def answer(one: Segment, ack: int, window: int = 512) -> Segment:
    """An ACK of the other side."""
    return replace(
        one, source=one.target, target=one.source, ports=one.ports[::-1], side=1 - one.side, seq=one.ack, ack=ack,
        data=b"", flags=ACK, window=window, ip_id=one.ip_id + 10_000,
    )  # fmt: skip


def probe(one: Segment) -> Iterable[Segment]:
    """The window is shut, one byte asks whether it is open again, and then all comes."""
    yield answer(one, one.seq, window=0)
    yield replace(one.moved(0, 1), ip_id=one.ip_id + 20_000)
    yield answer(one, one.seq, window=0)
    yield answer(one, one.seq)
    yield one


def with_tail(tail: bytes, captured: int | None = None) -> Callable[[Segment, int], Iterable[Frame]]:
    """Bytes behind the packet; `captured`: so many of them are in the file."""

    def change(one: Segment, _: int) -> Iterable[Frame]:
        data = one.frame() + tail
        yield Frame(data if captured is None else data[: len(data) - len(tail) + captured], one.time, len(data))

    return change


def fast_open() -> list[Frame]:
    """The first request of each connection that begins is in its SYN (RFC 7413), and comes once more behind it."""
    first: dict[object, Segment] = {}
    for one in segments():
        if one.side == 0 and one.data:
            first.setdefault(one.flow, one)

    def change(one: Segment, _: int) -> Iterable[Segment]:
        early = first.get(one.flow)
        if early and one.flags & (SYN | ACK) == SYN and early.seq == one.next:
            yield replace(one, data=early.data)
        elif early and one.flags & SYN and one.ack == early.seq:
            yield replace(one, ack=early.next)
        else:
            yield one

    return each(change)()


def twice_the_ports() -> list[Frame]:
    """The whole conversation, and a minute later once more from the same ports."""
    first = plain(segments())
    second = shifted(lambda _: (77_777_777, 99_999_999))()
    return first + [Frame(data, time + 60_000_000_000) for data, time, _ in second]


def simultaneous() -> list[Frame]:
    """Both sides send a SYN, then both answer (RFC 9293, figure 8)."""

    def change(one: Segment, _: int) -> Iterable[Segment]:
        if one.flags & (SYN | ACK) == SYN | ACK:
            yield replace(one, flags=SYN, ack=0)
            syn = replace(answer(one, one.next), flags=SYN | ACK, seq=(one.ack - 1) % SEQUENCES)
            yield syn
            yield replace(one, ip_id=one.ip_id + 20_000)
        else:
            yield one

    return each(change)()


def after_fin(one: Segment, _: int) -> Iterable[Segment]:
    yield one
    if one.flags & FIN:
        yield replace(one, flags=RST | ACK, seq=one.next, data=b"", ip_id=one.ip_id + 20_000)


def wrapped(one: Segment) -> tuple[int, int]:
    """Both directions of the connection pass 2^32 after some bytes."""
    mine, theirs = (SEQUENCES - 40 - one.seq) % SEQUENCES, (SEQUENCES - 30 - one.ack) % SEQUENCES
    return (mine, theirs) if one.side == 0 else (theirs, mine)


def repaired() -> list[Frame]:
    """Garbage in the place of segments; the right ones come two packets of the connection later, before anything of theirs is
    acknowledged: the base is a quiet conversation, so all of the connection waits for them."""
    found: list[Segment] = []
    for number, one in enumerate(segments()):
        found += [damaged(one), answer(one, one.seq), again(one)] if one.data and number % 11 == 3 else [one]
    return plain(found)


def at_seconds(frames: list[Frame]) -> list[tuple[int, int]]:
    return [divmod(frame.time, 1_000_000_000) for frame in frames]


def lengths(frames: list[Frame]) -> list[int]:
    return [len(frame.data) if frame.length is None else frame.length for frame in frames]


def nanoseconds(frames: list[Frame]) -> bytes:
    return pcap_file(
        [frame.data for frame in frames], times=at_seconds(frames), lengths=lengths(frames), nanoseconds=True
    )


def microseconds(order: str, **more: object) -> Callable[[list[Frame]], bytes]:
    """The times of the base have no part below a microsecond."""

    def write(frames: list[Frame]) -> bytes:
        times = [(seconds, fraction // 1_000) for seconds, fraction in at_seconds(frames)]
        return pcap_file([frame.data for frame in frames], times=times, lengths=lengths(frames), order=order, **more)

    return write


def one_resolution(unit: int) -> Callable[[list[Frame]], bytes]:
    """Microseconds, nanoseconds, or these since a moment of 2001, on the second interface."""
    units = [option(9, b"\x06"), option(9, b"\x09"), option(9, b"\x09") + option(14, struct.pack("<q", 1_000_000_000))]

    def write(frames: list[Frame]) -> bytes:
        out = [section(), interface(), interface(options=units[unit] + struct.pack("<HH", 0, 0))]
        for frame in frames:
            ticks = (frame.time // 1_000, frame.time, frame.time - 10**18)[unit]
            out.append(enhanced(frame.data, ticks, 1))
        return b"".join(out)

    return write


def each_way(frames: list[Frame]) -> bytes:
    """Requests on an interface that counts microseconds, replies on one that counts nanoseconds."""
    out = [section(), interface(), interface(options=option(9, b"\x09") + bytes(4))]
    for frame in frames:
        side = int(frame.data[:6] == MACS[0])
        out.append(enhanced(frame.data, frame.time if side else frame.time // 1_000, side))
    return b"".join(out)


def big_endian(frames: list[Frame]) -> bytes:
    out = [section(">"), interface(options=option(9, b"\x09", ">") + bytes(4), order=">")]
    return b"".join(out + [enhanced(frame.data, frame.time, order=">") for frame in frames])


def obsolete(frames: list[Frame]) -> bytes:
    """Packet Blocks, which were before Enhanced Packet Blocks: interface and drops of 16 bits each."""
    out = [section(), interface(options=option(9, b"\x09") + bytes(4))]
    for frame in frames:
        head = struct.pack("<HHIIII", 0, 0, frame.time >> 32, frame.time & 0xFFFFFFFF, len(frame.data), len(frame.data))
        out.append(block(2, head + frame.data))
    return b"".join(out)


def among_others(frames: list[Frame]) -> bytes:
    """Names, statistics, custom and unknown blocks between the packets, and options and comments behind them."""
    out = [section(), interface(options=option(9, b"\x09") + bytes(4))]
    for number, frame in enumerate(frames):
        if number % 50 == 7:
            out.append(block(4, struct.pack("<HH", 0, 0)))
            out.append(block(5, struct.pack("<III", 0, frame.time >> 32, frame.time & 0xFFFFFFFF)))
            out.append(block(0x0BAD, struct.pack("<I", 32_473) + b"anything"))
            out.append(block(0x4444_4444, bytes(12)))
        packet = frame.data + bytes(-len(frame.data) % 4)
        head = struct.pack("<IIIII", 0, frame.time >> 32, frame.time & 0xFFFFFFFF, len(frame.data), len(frame.data))
        out.append(block(6, head + packet + option(1, b"a comment") + option(2, struct.pack("<I", 1)) + bytes(4)))
    return b"".join(out)


def sections(frames: list[Frame]) -> bytes:
    """A section each hundred packets, by turns in either byte order: interfaces begin anew."""
    out = []
    for begin in range(0, len(frames), 100):
        order = "<>"[begin // 100 % 2]
        out += [section(order), interface(options=option(9, b"\x09", order) + bytes(4), order=order)]
        out += [enhanced(frame.data, frame.time, order=order) for frame in frames[begin : begin + 100]]
    return b"".join(out)


NOPS = b"\x01" * 4
HOP_BY_HOP = bytes([60, 0, 5, 2, 0, 0, 1, 0])  # router alert, then destination options, then TCP
DESTINATION = bytes([6, 0, 1, 4, 0, 0, 0, 0])
RECORD_ROUTE = b"\x07\x0b\x04" + bytes(8) + b"\x01"
STAMPS = b"\x01\x01\x08\x0a" + bytes(8)
GARBAGE = sum(1 for number, one in enumerate(segments()) if one.data and number % 11 == 3)

MUTATIONS = [
    Mutation("nothing", lambda: plain(segments())),
    # Bytes again.
    Mutation("sent again at once", each(some(5, lambda one: [one, again(one)]))),
    Mutation("sent again later", later(extra(5, lambda one: [again(one)]), 7)),
    Mutation("sent again much later", later(extra(5, lambda one: [again(one)]), 200)),
    Mutation("the second half again", later(extra(5, lambda one: [again(one, middle(one))]), 3)),
    Mutation("the first half again", later(extra(5, lambda one: [again(one, 0, middle(one))]), 3)),
    Mutation("a byte again", later(extra(4, lambda one: [again(one, 0, 1)]), 2)),
    Mutation("first half, then all", each(some(4, lambda one: [one.moved(0, middle(one)), again(one)]))),
    Mutation("overlapping pieces", each(lambda one, _: [one.moved(0, 2 * len(one.data) // 3), again(one, len(one.data) // 3)]
                                        if len(one.data) > 5 else [one])),
    Mutation("second half, then all", each(some(4, lambda one: [one.moved(middle(one)), again(one)]))),
    Mutation("halves in the wrong order", each(some(4, lambda one: [one.moved(middle(one)), one.moved(0, middle(one))]
                                                    if len(one.data) > 1 else [one]))),
    Mutation("each packet twice", each(lambda one, _: [one, one])),
    Mutation("each packet twice, no IP id", each(lambda one, _: 2 * [replace(one, ip_id=0)])),
    Mutation("left to the card, then sent", each(lambda one, _: [replace(one, checksum="partial"), one])),
    Mutation("each packet three times", each(lambda one, _: [one, one, one])),
    # Cut at other places.
    Mutation("pieces of 1 byte", each(lambda one, _: cut(one, 1 if len(one.data) < 100 else 500) if one.flow in from_syn()
                                      else [one])),
    Mutation("pieces of 7 bytes", each(lambda one, _: cut(one, 7 if len(one.data) < 2_000 else 700) if one.flow in from_syn()
                                       else [one])),
    Mutation("pieces of 10 bytes, no handshake", each(lambda one, _: [] if one.flags & SYN else
                                                      cut(one, 10 if len(one.data) < 2_000 else 700))),
    Mutation("pieces of 536 bytes", each(lambda one, _: cut(one, 536))),
    Mutation("put together on receipt", merged, TIMES),
    Mutation("total length 0", each(lambda one, _: [replace(one, no_length=True, checksum="large")])),
    Mutation("fragments", lambda: [frame for one in segments() for frame in fragments(one, "forward")]),
    Mutation("fragments backward", lambda: [frame for one in segments() for frame in fragments(one, "backward")]),
    Mutation("fragments that overlap", lambda: [frame for one in segments() for frame in fragments(one, "overlapping")]),
    Mutation("fragments of 8 bytes", lambda: [frame for one in segments() for frame in fragments(one, step=8)]),
    Mutation("fragments twice", lambda: [frame for one in segments() for frame in 2 * fragments(one)]),
    Mutation("fragments in IPv6", lambda: [frame for one in segments() for frame in fragments_6(one)], ADDRESSES),
    # Segments that carry nothing new.
    Mutation("keep-alives", each(keep_alive(0))),
    Mutation("keep-alives of a byte", each(keep_alive(1))),
    Mutation("probes of a shut window", each(some(9, probe))),
    Mutation("many equal ACKs", each(some(2, lambda one: [*(3 * [answer(one, one.seq)]), one]))),
    Mutation("no ACKs without data", each(lambda one, _: [one] if one.data or one.flags != ACK else [])),
    Mutation("old segments", later(extra(5, lambda one: [replace(one, ip_id=9, ttl=63)]), 300)),
    Mutation("data far away", each(some(7, lambda one: [replace(one, seq=(one.seq + (1 << 29)) % SEQUENCES, ip_id=9), one]))),
    Mutation("data before the stream", each(some(7, lambda one: [replace(one, seq=(one.seq - (1 << 29)) % SEQUENCES, ip_id=9),
                                                                 one]))),
    Mutation("resets far away", each(some(7, lambda one: [replace(one, flags=RST, seq=(one.seq + (1 << 29)) % SEQUENCES,
                                                                  data=b"", ip_id=9), one]))),
    # Headers.
    Mutation("in the SYN", fast_open, TIMES),
    Mutation("SYN twice", each(lambda one, _: [one, again(one)] if one.flags & SYN else [one])),
    Mutation("both call", simultaneous),
    Mutation("RST after FIN", each(after_fin)),
    Mutation("RST in place of FIN", each(lambda one, _: [replace(one, flags=one.flags & ~FIN | RST)]
                                         if one.flags & FIN else [one])),
    Mutation("FIN twice", each(lambda one, _: [one, again(one)] if one.flags & FIN else [one])),
    Mutation("ports used again", twice_the_ports, TIMES),
    Mutation("numbers that wrap", shifted(wrapped)),
    Mutation("urgent", each(lambda one, _: [replace(one, flags=one.flags | URG, urgent=5) if one.data else one])),
    Mutation("without PSH", each(lambda one, _: [replace(one, flags=one.flags & ~PSH)])),
    Mutation("congestion told", each(lambda one, n: [replace(one, flags=one.flags | (ECE, CWR, 0)[n % 3], service=n % 4)])),
    Mutation("no options", each(options(b""))),
    Mutation("40 bytes of options", each(options(STAMPS + NOPS * 7))),
    Mutation("no window scale", each(lambda one, _: [replace(one, options=b"\x02\x04\x05\xb4")] if one.flags & SYN else [one])),
    Mutation("partial checksums", each(lambda one, _: [replace(one, checksum="partial")])),
    Mutation("wrong checksums", each(lambda one, _: [replace(one, checksum="wrong")])),
    Mutation("wrong checksums of requests", each(lambda one, _: [replace(one, checksum="right" if one.side else "wrong")])),
    Mutation("wrong checksums of what is large", each(lambda one, _: [replace(one, checksum="wrong")]
                                                      if len(one.data) > 150 else [one])),
    Mutation("no IP id", each(lambda one, _: [replace(one, ip_id=0)])),
    Mutation("TTL that changes", each(lambda one, n: [replace(one, ttl=60 + n // 40 % 2)])),
    Mutation("IPv4 options", each(lambda one, _: [replace(one, ip_options=RECORD_ROUTE)])),
    Mutation("IPv6", each(lambda one, _: [with_v6(one, b"", 6)]), ADDRESSES),
    Mutation("IPv6 extension headers", each(lambda one, _: [with_v6(one, HOP_BY_HOP + DESTINATION, 0)]), ADDRESSES),
    # Frames.
    Mutation("padding", each(with_tail(bytes(18)))),
    Mutation("a trailer", each(with_tail(b"\xde\xad\xbe\xef" * 5))),
    Mutation("frame check sequence", each(with_tail(b"\x12\x34\x56\x78"))),
    Mutation("cut in the padding", each(with_tail(bytes(18), captured=0))),
    Mutation("priority tag", each(lambda one, _: [Frame(one.frame()[:12] + b"\x81\0\xa0\0" + one.frame()[12:], one.time)])),
    Mutation("other Ethernet addresses", each(lambda one, n: [replace(one, ether=bytes([2, 0, 0, 0, n % 7, 1] * 2))])),
    # Damage on the way.
    Mutation("garbage before", each(some(11, lambda one: [damaged(one), one])), damaged=GARBAGE),
    Mutation("garbage long before", repaired, (*TIMES,), damaged=GARBAGE),
    Mutation("garbage behind", each(some(11, lambda one: [one, damaged(one, ip_id=9)])), damaged=GARBAGE),
    Mutation("garbage that is longer", each(some(11, lambda one: [damaged(one, len(one.data) + 900), one])), damaged=GARBAGE),
    Mutation("garbage that is shorter", each(some(11, lambda one: [damaged(one, middle(one)), one])), damaged=GARBAGE),
    Mutation("garbage elsewhere", each(some(11, lambda one: [damaged(one, seq=one.seq ^ 0x00F0_0F00), one])), damaged=GARBAGE),
    Mutation("garbage that acknowledges", each(some(11, lambda one: [damaged(one, ack=one.ack ^ 0x0000_FF00), one])),
             damaged=GARBAGE),
    Mutation("garbage three times", each(some(11, lambda one: [*(damaged(one, ip_id=9 + n) for n in range(3)), one])),
             damaged=3 * GARBAGE),
    Mutation("garbage, then pieces", each(some(11, lambda one: [damaged(one), *cut(one, 50)])), damaged=GARBAGE),
    Mutation("garbage ends", each(some(11, lambda one: [damaged(one, 0, flags=RST), one])), damaged=GARBAGE),
    Mutation("garbage calls", each(some(11, lambda one: [damaged(one, 0, flags=SYN), one])), damaged=GARBAGE),
    # Files.
    Mutation("pcap, big endian", lambda: plain(segments()), write=microseconds(">")),
    Mutation("pcap, microseconds", lambda: plain(segments()), write=microseconds("<")),
    Mutation("pcap of Kuznetzov", lambda: plain(segments()), write=microseconds("<", modified=True)),
    Mutation("pcapng, microseconds", lambda: plain(segments()), write=one_resolution(0)),
    Mutation("pcapng, nanoseconds", lambda: plain(segments()), write=one_resolution(1)),
    Mutation("pcapng, an offset", lambda: plain(segments()), write=one_resolution(2)),
    Mutation("pcapng, an interface each way", lambda: plain(segments()), write=each_way),
    Mutation("pcapng, big endian", lambda: plain(segments()), write=big_endian),
    Mutation("pcapng, obsolete blocks", lambda: plain(segments()), write=obsolete),
    Mutation("pcapng, other blocks between", lambda: plain(segments()), write=among_others),
    Mutation("pcapng, many sections", lambda: plain(segments()), write=sections),
]  # fmt: skip
