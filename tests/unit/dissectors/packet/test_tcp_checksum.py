"""The checksum of a segment below every layer, by scapy: right, wrong, or unknown because nobody wrote one."""

from __future__ import annotations

import ipaddress
import struct

import pytest
from capture_tools import pcap_file, read_capture
from scapy.utils import checksum as scapy_checksum
from test_packets_layers import ENDS, LAYERS, NO_CHECKSUM, only, read

from dissectors import layout


@pytest.mark.parametrize("name", sorted(LAYERS.keys() - NO_CHECKSUM))
def test_one_wrong_byte_makes_the_checksum_wrong(name: str) -> None:
    link, packet, _ = LAYERS[name]
    data = bytes(packet)
    for place in (4, 9, 18, len(ENDS) - 2, len(ENDS) - 1):  # sequence and ACK number, what nobody reads, payload
        at = len(data) - len(ENDS) + place
        broken = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        assert only(read(broken, link))["checksum"] == layout.CHECKSUM_WRONG, place
    cut = read_capture(pcap_file([data[:-1]], link, lengths=[len(data)]))
    assert only(cut)["checksum"] == layout.CHECKSUM_UNKNOWN


@pytest.mark.parametrize("name", LAYERS)
def test_a_checksum_left_to_the_network_card_is_unknown(name: str) -> None:
    """The sum of the pseudo header with or without the length, as hosts write it, or nothing."""
    link, packet, _ = LAYERS[name]
    data = bytes(packet)
    six = ipaddress.ip_address("2001:db8::1").packed in data
    ends = ("2001:db8::1", "fe80::2") if six else ("10.1.2.3", "192.0.2.9")
    pseudo = b"".join(ipaddress.ip_address(end).packed for end in ends) + b"\0\x06"
    at = len(data) - len(ENDS) + 16
    for length in (len(ENDS), 0):
        partial = scapy_checksum(pseudo + struct.pack(">H", length)) ^ 0xFFFF
        made = data[:at] + struct.pack(">H", partial) + data[at + 2 :]
        assert only(read(made, link))["checksum"] == layout.CHECKSUM_UNKNOWN
    assert only(read(data[:at] + bytes(2) + data[at + 2 :], link))["checksum"] == layout.CHECKSUM_UNKNOWN
