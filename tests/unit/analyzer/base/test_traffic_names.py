"""Names of packets without TCP: every packet is in exactly one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.base.traffic_names import MOST_NAMES, OTHERS, in_words, name_unread, unite

COUNTS = st.dictionaries(st.integers(0, 65_535), st.integers(1, 10**6), max_size=100)


def test_names_and_order() -> None:
    found = name_unread({4790: 1_204, 53: 1, 40_000: 2}, {17: 1_207, 50: 7, 200: 1}, {0x0806: 3, 0x1234: 1}, 1_220)
    assert in_words(found) == (
        "1,204 packets: UDP 4790, VXLAN-GPE; 7 packets: IP protocol 50, ESP, encrypted; 3 packets: ARP; "
        "2 packets: UDP 40000; 1 packet: IP protocol 200; 1 packet: UDP 53, DNS; 1 packet: ethertype 0x1234; "
        "1 packet: others"
    )
    assert [each.name for each in found if each.is_tunnel] == ["UDP 4790, VXLAN-GPE"]
    assert in_words([]) is None


@given(COUNTS, COUNTS, COUNTS, st.integers(0, 10**6))
def test_every_packet_counts_once(
    ports: dict[int, int], protocols: dict[int, int], ethertypes: dict[int, int], unnamed: int
) -> None:
    udp = sum(ports.values())
    packets = udp + sum(ethertypes.values()) + sum(n for number, n in protocols.items() if number != 17) + unnamed
    found = name_unread(ports, protocols | {17: udp}, ethertypes, packets)
    assert sum(each.packets for each in found) == packets
    assert len(found) <= MOST_NAMES + 1
    twice = unite([found, found])
    assert sum(each.packets for each in twice) == 2 * packets
    assert [each.name for each in twice if each.name == OTHERS] == [each.name for each in found if each.name == OTHERS]
