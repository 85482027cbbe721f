"""What the writer writes, as our reader reads it: every clock, length and comment."""

from __future__ import annotations

import io

import pytest
from capture_tools import read_capture
from hypothesis import assume, given
from hypothesis import strategies as st

from analyzer.extract.pcapng_file import MOST_COMMENT_BYTES, PcapngFile, ticks_of
from dissectors import layout
from dissectors.formats.capture_facts import Interface

NS = 1_000_000_000
CLOCKS = [10**power for power in (*range(13), 127)] + [2**power for power in (0, 1, 6, 10, 20, 29, 32, 40, 127)]


@given(
    st.sampled_from(CLOCKS),
    st.integers(-3_000, 3_000),
    st.integers(10_000, 2**31),
    st.binary(max_size=70),
    st.integers(0, 2_000),
)
def test_a_packet_is_read_as_it_was_written(clock: int, offset: int, seconds: int, data: bytes, more: int) -> None:
    interface = Interface(1, 65_535, "eth0", clock, offset)
    # A time that a reader can have from this clock: a tick of 64 bits, rounded down to ns.
    seconds = min(seconds, 2**63 // clock)
    time = (seconds * clock + 7 % clock) * NS // clock + offset * NS
    assume(time >= 0)  # a moment before 1970 is none
    sink = io.BytesIO()
    file = PcapngFile(sink)
    number = file.interface(1, interface)
    file.packet(number, ticks_of(time, interface), data, len(data) + more, "said")
    read = read_capture(sink.getvalue())
    (packet,) = read.packets
    assert packet[layout.PACKET_TIME] == time
    assert packet[layout.PACKET_OFFSET] == data
    assert packet[layout.PACKET_LENGTH] == len(data) + more
    assert read.problem is None and not read.reader.notes  # type: ignore[attr-defined]
    assert read.reader.interfaces[0] == interface  # type: ignore[attr-defined]


@pytest.mark.parametrize("comment", ["", "a", "é" * 40_000])
def test_a_comment_of_any_length_fits(comment: str) -> None:
    sink = io.BytesIO()
    file = PcapngFile(sink)
    file.packet(file.interface(1, Interface(1, 0)), 1, b"abc", 3, comment)
    assert len(sink.getvalue()) < 200 + MOST_COMMENT_BYTES
    assert len(read_capture(sink.getvalue()).packets) == 1


def test_secrets_are_read_again() -> None:
    sink = io.BytesIO()
    file = PcapngFile(sink)
    file.secrets(0x544C534B, b"CLIENT_RANDOM 00 11\n")
    file.packet(file.interface(1, Interface(1, 0)), 1, b"abc", 3)
    assert read_capture(sink.getvalue()).reader.secrets == [(0x544C534B, b"CLIENT_RANDOM 00 11\n")]  # type: ignore[attr-defined]
