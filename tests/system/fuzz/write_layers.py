"""Writes corpus/layers.jsonl: one packet of every link layer, tunnel and extension header, built by scapy.

The lists are those of tests/unit/dissectors/packet/test_packets_layers.py and tests/support/encapsulations.py; stored, so
that a fuzzing run need not load scapy.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [
    str(ROOT / folder) for folder in (".", "tests/support", "tests/unit/dissectors/packet", "tests/system/edge")
]

from encapsulations import LINKS, TUNNELS  # noqa: E402
from one_base import Base  # noqa: E402
from test_packets_layers import LAYERS  # noqa: E402

SNAP = "aaaa03000000"
# Headers of the rare links, by hand: link type -> bytes before an IPv4 packet.
RARE = {
    9: "ff030021",
    10: "50" + "02" * 12 + SNAP + "0800",
    50: "0f000800",
    51: "1100002100420021",
    104: "8f000800",
    105: "0801" + "00" * 22 + SNAP + "0800",
    127: "0000080000000000" + "8801" + "00" * 24 + SNAP + "0800",
    192: "0000080001000000" + "02" * 12 + "0800",
    239: "02000000" + "0800010008000100" + "3c000900",
}


def main() -> None:
    found = [(name, link, bytes(packet)) for name, (link, packet, _) in LAYERS.items()]
    inner = bytes(LAYERS["raw 101"][1])
    found += [(f"rare link {link}", link, bytes.fromhex(header) + inner) for link, header in RARE.items()]
    for row in TUNNELS + LINKS:
        packet = Base(bytes(LAYERS["raw ipv6 101" if row.six else "raw 101"][1]), 0, 0)
        found.append((row.name, row.link, row.wrap(packet)))
    lines = [json.dumps({"name": name, "link": link, "hex": data.hex()}) for name, link, data in found]
    (Path(__file__).parent / "corpus" / "layers.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
