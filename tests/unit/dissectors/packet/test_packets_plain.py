"""The compiled stage and the same files as plain Python find the same in packets of every layer, whole and damaged."""

from __future__ import annotations

import json
from collections import defaultdict
from random import Random

import capture_tools
import pytest
from paths import ROOT
from plain_stages import plain_stage

LAYERS = ROOT / "tests" / "system" / "fuzz" / "corpus" / "layers.jsonl"
COPIES = 20


def damaged(data: bytes, chance: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed[: chance.randrange(len(changed) + 1)] if chance.random() < 0.2 else changed)


@pytest.mark.slow
def test_compiled_and_plain_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(5)
    packets = defaultdict(list)
    for line in LAYERS.read_text().splitlines():
        layer = json.loads(line)
        data = bytes.fromhex(layer["hex"])
        packets[layer["link"]] += [data, *(damaged(data, chance) for _ in range(COPIES))]
    stages = capture_tools.Packets, plain_stage("dissectors.packet.packets").Packets
    for link, some in packets.items():
        capture = capture_tools.pcap_file(some, link, lengths=[len(data) + chance.choice((0, 0, 5)) for data in some])
        found = []
        for stage in stages:
            monkeypatch.setattr(capture_tools, "Packets", stage)
            read = capture_tools.read_capture(capture)
            counts = (read.stage.outcomes(), read.stage.udp_ports(), read.stage.protocols(), read.stage.ethertypes())
            found.append((read.segments, counts, dict(read.stage.scopes)))
        assert found[0] == found[1], link
