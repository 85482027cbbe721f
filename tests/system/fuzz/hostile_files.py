"""Hostile capture files: heads, blocks, times, lengths and compression that are wrong, absurd or endless.

A case is a function from about how many bytes to the bytes of one file; a case that cannot grow ignores the number. What
lies in the files is, where it can be, one of the samples: so every verb has something to say.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from random import Random

import capture_tools as tools
import cramjam
import material
from plain_conversations import Case
from transform import Packet

CASES: dict[str, Case] = {}
SECOND = 1_000_000
BIG = 0x7FFF_FFFF_FFFF_FFFF


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


@cache
def base() -> tuple[Packet, ...]:
    """A sample with every sort of message in it."""
    return tuple(max((packets for _, packets in material.captures()), key=lambda packets: -len(packets)))


def microseconds(packet: Packet) -> int:
    return packet.seconds * SECOND + packet.fraction


def repeated(size: int) -> Iterable[Packet]:
    """The packets of the base, again and again, up to so many bytes."""
    written = 0
    while written < size:
        for packet in base():
            yield packet
            written += 16 + len(packet.data)


def pcap(packets: Sequence[Packet], order: str = "<", **options: object) -> bytes:
    times = [(each.seconds & 0xFFFFFFFF, each.fraction & 0xFFFFFFFF) for each in packets]
    return tools.pcap_file([each.data for each in packets], order=order, times=options.pop("times", times), **options)


def pcapng(
    packets: Sequence[Packet], options: bytes = b"", order: str = "<", times: Sequence[int] | None = None
) -> bytes:
    ticks = times or [microseconds(each) for each in packets]
    blocks = [tools.enhanced(each.data, at & (1 << 64) - 1, 0, order) for each, at in zip(packets, ticks, strict=True)]
    return tools.section(order) + tools.interface(options=options, order=order) + b"".join(blocks)


def resolution(byte: int) -> bytes:
    return tools.option(9, bytes([byte]))


def offset(seconds: int) -> bytes:
    return tools.option(14, struct.pack("<q", seconds))


def constant(name: str, data: Callable[[], bytes]) -> None:
    CASES[name] = lambda _: data()


# ---- heads ----

constant("nothing", lambda: b"")
constant("one_byte", lambda: b"\xd4")
constant("magic_alone", lambda: b"\xd4\xc3\xb2\xa1")
constant("head_cut", lambda: pcap(base())[:17])
constant("head_alone", lambda: pcap([]))
constant("section_alone", tools.section)
constant("interface_alone", lambda: tools.section() + tools.interface())
constant("version_of_tomorrow", lambda: pcap(base(), version=(3, 0)))
constant("section_of_tomorrow", lambda: tools.section(version=(7, 7)) + pcapng(base())[28:])
constant("snoop", lambda: b"snoop\0\0\0" + struct.pack(">II", 2, 4) + bytes(400))
constant("netmon", lambda: b"GMBU\x00\x02" + bytes(600))
constant("netmon_1", lambda: b"RTSS\x01\x01" + bytes(600))
constant("text", lambda: b"10:00:00.000 IP a > b: Flags [S]\n" * 99)
constant("json", lambda: b'{"frames": [1, 2, 3]}\n' * 99)
constant("parquet", lambda: b"PAR1" + bytes(100) + b"PAR1")
constant("tar", lambda: b"a.pcap".ljust(257, b"\0") + b"ustar\x0000" + bytes(248) + pcap(base()))
constant("elf", lambda: b"\x7fELF\x02\x01\x01" + bytes(3000))


@case
def zeros(size: int) -> bytes:
    return bytes(size)


@case
def ones(size: int) -> bytes:
    return b"\xff" * size


@case
def noise(size: int) -> bytes:
    return Random(1).randbytes(size)


# ---- pcap ----

constant("big_endian", lambda: pcap(base(), ">"))
constant("nanoseconds", lambda: pcap(base(), nanoseconds=True))
constant("modified", lambda: pcap(base(), modified=True))
constant("cut_in_a_head", lambda: pcap(base()) + b"abcdefg")
constant("cut_in_a_packet", lambda: pcap(base())[:-9])
constant("snaplen_zero", lambda: pcap(base(), snaplen=0))
constant("snaplen_negative", lambda: pcap(base(), snaplen=0xFFFFFFFF))
constant("time_zero", lambda: pcap(base(), times=[(0, 0)] * len(base())))
constant("time_last", lambda: pcap(base(), times=[(0xFFFFFFFF, 999_999)] * len(base())))
constant("time_fraction_too_large", lambda: pcap(base(), times=[(each.seconds, 0xFFFFFFFF) for each in base()]))
constant("time_backwards", lambda: pcap(base(), times=[(2_000_000_000 - n, 0) for n in range(len(base()))]))
constant("time_a_year_apart", lambda: pcap(base(), times=[(n * 31_556_952 % 2**32, 0) for n in range(len(base()))]))
constant("time_to_and_fro", lambda: pcap(base(), times=[((0, 4_294_967_295)[n & 1], 0) for n in range(len(base()))]))
constant("link_unknown", lambda: pcap(base(), link=250))
constant("link_absurd", lambda: pcap(base(), link=0xFFFFFFFF))
constant("link_raw", lambda: pcap(base(), link=101))
constant("link_null", lambda: pcap(base(), link=0))
constant("link_radiotap", lambda: pcap(base(), link=127))
constant("wire_length_zero", lambda: pcap(base(), lengths=[0] * len(base())))
constant("wire_length_huge", lambda: pcap(base(), lengths=[0xFFFFFFFF] * len(base())))
constant("cut_by_snaplen", lambda: pcap([cut(each, 60) for each in base()]))
constant("captured_too_long", lambda: pcap(base()) + struct.pack("<IIII", 1, 1, 0x7FFFFFFF, 60) + bytes(99))
constant("captured_negative", lambda: pcap(base()) + struct.pack("<IIII", 1, 1, 0xFFFFFFFF, 60) + bytes(99))
constant("garbage_between", lambda: pcap(base()[:60]) + Random(3).randbytes(5000) + pcap(base()[60:])[24:])
constant("two_in_one", lambda: pcap(base()) + pcap(base()))


def cut(packet: Packet, size: int) -> Packet:
    return Packet(packet.seconds, packet.fraction, len(packet.data), packet.data[:size])


@case
def packets_of_nothing(size: int) -> bytes:
    return pcap([]) + struct.pack("<IIII", 1_700_000_000, 0, 0, 0) * (size // 16)


@case
def the_same_again(size: int) -> bytes:
    return pcap(list(repeated(size)))


# ---- pcapng ----

constant("ng_plain", lambda: pcapng(base()))
constant("ng_big_endian", lambda: pcapng(base(), order=">"))
constant("ng_simple_packets", lambda: simple(base()))
constant("ng_simple_and_enhanced", lambda: pcapng(base()[:90]) + simple(base()[90:])[28 + 20 :])
constant("ng_offset_last", lambda: pcapng(base(), offset(BIG)))
constant("ng_offset_first", lambda: pcapng(base(), offset(-BIG - 1)))
constant("ng_offset_far", lambda: pcapng(base(), offset(10**12)))
constant("ng_offset_to_the_last_second", lambda: pcapng(base(), offset(BIG // 10**9 - base()[0].seconds)))
constant("ng_offset_before_1970", lambda: pcapng(base(), offset(-4_000_000_000)))
constant("ng_offset_cut", lambda: pcapng(base(), tools.option(14, b"abc")))
constant("ng_times_zero", lambda: pcapng(base(), times=[0] * len(base())))
constant("ng_times_last", lambda: pcapng(base(), times=[(1 << 64) - 1] * len(base())))
constant("ng_times_middle", lambda: pcapng(base(), times=[BIG] * len(base())))
constant("ng_no_interface", lambda: tools.section() + pcapng(base())[28 + 20 :])
constant(
    "ng_other_interface", lambda: tools.section() + tools.interface() + tools.enhanced(bytes(60), 1, 0xFFFFFFFF) * 99
)
constant("ng_cut_in_a_block", lambda: pcapng(base())[:-5])
constant(
    "ng_comments", lambda: pcapng(base(), tools.option(1, b"\x1b[31m\x9b\x00" * 99) + tools.option(2, b"=cmd|\n" * 9))
)
constant("ng_option_too_long", lambda: pcapng(base(), struct.pack("<HH", 1, 0xFFFF)))
constant("ng_sections_of_both_orders", lambda: (pcapng(base()[:99]) + pcapng(base()[99:], order=">")) * 3)
constant("ng_garbage_between", lambda: pcapng(base()[:60]) + Random(3).randbytes(5000) + pcapng(base()[60:]))
constant("ng_block_shorter_than_a_block", lambda: pcapng(base()) + struct.pack("<III", 6, 8, 8) + pcapng(base()))
constant("ng_block_huge", lambda: pcapng(base()) + struct.pack("<III", 6, 0x7FFFFFFC, 0) + bytes(999))
constant("ng_captured_beyond_its_block", lambda: pcapng(base()[:30]) + beyond() + pcapng(base()[30:]))
constant(
    "ng_secrets_of_nobody", lambda: tools.section() + tools.block(10, struct.pack("<II", 0x544C534B, 9000) + b"x" * 90)
)
constant("ng_obsolete_packets", lambda: obsolete(base()))
for exponent in (0, 1, 18, 20, 63, 0x7F, 0x80, 0x8A, 0xBF, 0xC0, 0xFF):
    constant(f"ng_resolution_{exponent}", lambda exponent=exponent: pcapng(base(), resolution(exponent)))


def simple(packets: Iterable[Packet]) -> bytes:
    """Packets without a time."""
    blocks = [tools.block(3, struct.pack("<I", len(each.data)) + each.data) for each in packets]
    return tools.section() + tools.interface() + b"".join(blocks)


def obsolete(packets: Iterable[Packet]) -> bytes:
    heads = [(struct.pack("<HHIIII", 0, 0, 5, 5, len(each.data), len(each.data)), each.data) for each in packets]
    return tools.section() + tools.interface() + b"".join(tools.block(2, head + data) for head, data in heads)


def beyond() -> bytes:
    """A packet that says that it is longer than the block around it."""
    return tools.block(6, struct.pack("<IIIII", 0, 0, 0, 9999, 9999) + bytes(60))


@case
def ng_interfaces(size: int) -> bytes:
    return tools.section() + tools.interface() * (size // 20) + pcapng(base())[28 + 20 :]


@case
def ng_interfaces_with_long_names(size: int) -> bytes:
    name = tools.option(2, b"n" * 60_000)
    return tools.section() + tools.interface(options=name) * (1 + size // 60_000) + pcapng(base())[28 + 20 :]


@case
def ng_sections(size: int) -> bytes:
    return (tools.section() + tools.interface()) * (size // 48) + pcapng(base())


@case
def ng_custom_blocks(size: int) -> bytes:
    return (
        tools.section() + tools.interface() + tools.block(0xBAD, struct.pack("<I", 32473) + bytes(900)) * (size // 916)
    )


@case
def ng_names(size: int) -> bytes:
    """A name resolution block of names that a terminal would act upon."""
    record = struct.pack("<HH", 1, 12) + b"\x0a\x00\x00\x01\x1b[2Jabc\0"
    return tools.section() + tools.block(4, record * (size // len(record)) + bytes(4)) + pcapng(base())[28:]


@case
def ng_secrets(size: int) -> bytes:
    line = b"CLIENT_RANDOM " + b"ab" * 32 + b" " + b"cd" * 48 + b"\n"
    keys = line * (1 + size // len(line))
    return tools.section() + tools.block(10, struct.pack("<II", 0x544C534B, len(keys)) + keys) + pcapng(base())[28:]


# ---- compression ----

constant("gzip", lambda: gzip.compress(pcap(base()), mtime=0))
constant("gzip_cut", lambda: gzip.compress(pcap(base()), mtime=0)[:-99])
constant("gzip_wrong_checksum", lambda: gzip.compress(pcap(base()), mtime=0)[:-8] + bytes(8))
constant("gzip_in_gzip", lambda: gzip.compress(gzip.compress(pcap(base()), mtime=0), mtime=0))
constant("gzip_and_garbage", lambda: gzip.compress(pcap(base()), mtime=0) + b"garbage" * 99)
constant("gzip_of_nothing", lambda: gzip.compress(b"", mtime=0))
constant("gzip_of_text", lambda: gzip.compress(b"no capture\n" * 999, mtime=0))
constant("zstd_cut", lambda: zstd(pcap(base()))[:-99])
constant("zstd_and_garbage", lambda: zstd(pcap(base())) + b"garbage" * 99)
constant("zstd_window_huge", lambda: b"\x28\xb5\x2f\xfd\x00\xff" + bytes(99))


def zstd(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data))


@case
def gzip_bomb(size: int) -> bytes:
    """A thousand times as large when it is unpacked."""
    return gzip.compress(pcap([]) + bytes(min(size * 1000, 1 << 30)), 6, mtime=0)


@case
def zstd_bomb(size: int) -> bytes:
    return zstd(pcap([]) + bytes(min(size * 1000, 1 << 30)))


@case
def gzip_members(size: int) -> bytes:
    return gzip.compress(pcap(base()), mtime=0) + gzip.compress(b"", mtime=0) * (size // 20)
