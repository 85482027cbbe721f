"""What the lab's middleboxes make of TCP packets, read by scapy."""

from __future__ import annotations

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from lab.packets import flow_of, is_syn, reset_for, without_window_scale

_THERE = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src="10.20.1.1", dst="10.20.0.11")
_BACK = Ether(src="02:00:00:00:00:02", dst="02:00:00:00:00:01") / IP(src="10.20.0.11", dst="10.20.1.1")
_OPTIONS = [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (7, 0)), ("NOP", None), ("WScale", 7)]


def has_true_checksums(frame: bytes) -> bool:
    told = Ether(frame)
    again = Ether(frame)
    del again[IP].chksum
    del again[TCP].chksum
    again = Ether(bytes(again))
    return told[IP].chksum == again[IP].chksum and told[TCP].chksum == again[TCP].chksum


def test_a_handshake_loses_its_window_scale_and_nothing_else() -> None:
    frame = bytes(_THERE / TCP(sport=4000, dport=9092, flags="S", seq=5, options=_OPTIONS))
    changed = without_window_scale(frame)
    assert len(changed) == len(frame)
    assert has_true_checksums(changed)
    kept = [option for option in Ether(changed)[TCP].options if option[0] not in ("NOP", "EOL")]
    assert kept == [option for option in _OPTIONS if option[0] not in ("NOP", "WScale")]


def test_a_handshake_without_window_scale_stays_as_it_is() -> None:
    frame = bytes(_THERE / TCP(sport=4000, dport=9092, flags="S", options=[("MSS", 1460)]))
    assert without_window_scale(frame) == frame


@pytest.mark.parametrize("payload", [b"", b"odd"])
def test_a_reset_answers_in_the_name_of_the_other_side(payload: bytes) -> None:
    frame = bytes(_THERE / TCP(sport=4000, dport=9092, flags="PA", seq=100, ack=900) / payload)
    answer = reset_for(frame)
    assert answer
    assert has_true_checksums(answer)
    told = Ether(answer)
    assert (told.src, told.dst) == ("02:00:00:00:00:02", "02:00:00:00:00:01")
    assert (told[IP].src, told[IP].dst) == ("10.20.0.11", "10.20.1.1")
    assert (told[TCP].sport, told[TCP].dport, told[TCP].flags) == (9092, 4000, "RA")
    assert (told[TCP].seq, told[TCP].ack) == (900, 100 + len(payload))


def test_a_reset_is_not_answered() -> None:
    assert reset_for(bytes(_THERE / TCP(sport=4000, dport=9092, flags="R"))) is None


def test_both_ways_of_a_connection_are_one_flow() -> None:
    there = bytes(_THERE / TCP(sport=4000, dport=9092, flags="S"))
    back = bytes(_BACK / TCP(sport=9092, dport=4000, flags="SA"))
    assert flow_of(there) == flow_of(back) is not None
    assert is_syn(there) and is_syn(back)
    assert not is_syn(bytes(_THERE / TCP(sport=4000, dport=9092, flags="A")))


def test_other_frames_have_no_flow() -> None:
    arp = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", type=0x0806)) + bytes(28)
    assert flow_of(arp) is None
    assert not is_syn(arp)
