"""The message that a packet belongs to is looked for among those of its own capture point."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from made_capture import Conversation, pcap, reply, request
from paths import ROOT

from analyzer.base.options import Options
from analyzer.messages import packet_search
from analyzer.messages.packet_search import Place, passing_in, place
from analyzer.run.local import open_dataset


def test_a_packet_is_part_of_a_message_of_its_own_capture_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run seen by the switch and beside a client: its clock might be another, so that a time means another message."""
    paths = [str(ROOT / "tests/data/incidents" / f"broker_killed{end}.pcap.zst") for end in ("", "_client")]
    options = Options(taps=(("switch", paths[0]), ("client", paths[1])))
    with open_dataset(paths, options) as dataset:
        (row,) = dataset.query(
            "SELECT * FROM exchanges WHERE response_end_ns > response_time_ns AND response_file IS NOT NULL "
            "ORDER BY response_end_ns - response_time_ns DESC, exchange LIMIT 1"
        )
        addresses = (row["broker_address"], row["broker_port"], row["client_address"], row["client_port"])
        seen = packet_search._Segment(*addresses, row["response_end_ns"])
        monkeypatch.setattr(packet_search, "_segment", lambda *_: seen)
        own, other = row["response_file"], 1 - row["response_file"]
        assert row["exchange"] in passing_in(dataset, paths, options, Place(own, row["response_packet"] + 1))
        assert row["exchange"] not in passing_in(dataset, paths, options, Place(other, 1))


def in_blocks(capture: bytes, blocks_before: int) -> bytes:
    """A pcap file (little endian, microseconds) as pcapng; before its packets so many custom blocks, which Wireshark numbers."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    found = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 0))
    found += block(0x0BAD, struct.pack("<I", 32_473)) * blocks_before
    at = 24
    while at < len(capture):
        seconds, micros, length, original = struct.unpack_from("<IIII", capture, at)
        high, low = divmod(seconds * 1_000_000 + micros, 1 << 32)
        packet = capture[at + 16 : at + 16 + length]
        found += block(6, struct.pack("<IIIII", 0, high, low, length, original) + packet)
        at += 16 + length
    return found


def test_a_number_counts_blocks_that_wireshark_numbers(tmp_path: Path) -> None:
    """The last message begins behind the count of packets, and the other capture has no packet of that number."""
    paths = []
    for blocks in (0, 40):
        talk = Conversation(port=40_000 + blocks).shake()
        for correlation in range(5):
            talk.exchange(request(correlation), reply(correlation))
        paths.append(tmp_path / f"{blocks}.pcapng")
        paths[-1].write_bytes(in_blocks(pcap(talk.packets), blocks))
    with open_dataset([str(path) for path in paths], Options()) as dataset:
        (seen,) = dataset.query(
            "SELECT response_file AS file, max(response_packet) AS last FROM exchanges GROUP BY ALL HAVING last > 40"
        )
        (counted,) = dataset.query(f"SELECT packets FROM captures WHERE file = {seen['file']}")
        assert seen["last"] > counted["packets"]
        assert place(dataset, str(seen["last"])) == Place(seen["file"], seen["last"])
        with pytest.raises(ValueError, match="2 captures have a packet 5"):
            place(dataset, "5")
