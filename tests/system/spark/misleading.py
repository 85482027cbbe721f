"""A capture in which those who read it in parts guess wrong, where a record begins and where a connection stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from made_capture import ACK, PSH, Conversation, Packet, pcap, reply, request, segment

EXCHANGES = 6_000
# When the one that waits is sent, and when it is answered.
SENT, ANSWERED = 100, 2_900
# In the second half every so many packets one carries a capture.
APART = 200
SENDER = (0x0A090901, 5_555, 0x0A090902, 6_666)
# What looks for a record in the middle of a file finds these, which lead to one another.
INSIDE = pcap((Conversation().clock + number, bytes(48)) for number in range(900))[24:]


def write(path: Path) -> Path:
    """A request is answered after many later ones, which no part in between can know; some packets carry captures."""
    path.write_bytes(pcap(_with_captures(_conversation().packets)))
    return path


def _conversation() -> Conversation:
    conversation = Conversation().shake()
    for number in range(EXCHANGES):
        if number == SENT:
            conversation.frame(0, request(EXCHANGES))
        if number == ANSWERED:
            conversation.frame(1, reply(EXCHANGES))
        conversation.exchange(request(number), reply(number))
    return conversation


def _with_captures(packets: list[Packet]) -> Iterator[Packet]:
    for number, packet in enumerate(packets):
        yield packet
        if number > len(packets) // 2 and number % APART == 0:
            yield packet[0], segment(SENDER, 1 + number // APART * len(INSIDE), 1, PSH | ACK, INSIDE)
