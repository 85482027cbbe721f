"""Writes corpus/tls.jsonl: small TLS sessions with Kafka frames in them and their key logs, made by OpenSSL.

Stored, because the keys of a session are new each time and an input must be the same for the same seed.
"""

from __future__ import annotations

import json
import ssl
import sys
from pathlib import Path
from struct import pack

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import material  # noqa: E402
from tls_tools import Ends  # noqa: E402

SESSIONS = (
    (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES128-GCM-SHA256"),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-CHACHA20-POLY1305"),
    (ssl.TLSVersion.TLSv1_3, None),
)


def main() -> None:
    lines = []
    small = [pair for pair in material.pairs() if len(pair[0].frame) + len(pair[1].frame) < 400]
    for number, (version, cipher) in enumerate(SESSIONS):
        ends = Ends(version, f"{cipher}:@SECLEVEL=0" if cipher else None)
        said = [b"", b""]
        for request, reply in small[number * 8 : number * 8 + 8]:
            for side, message in ((0, request.frame), (1, reply.frame)):
                data = pack(">i", len(message)) + message
                said[side] += data
                ends.say(side, data[:4], data[4:])
        conversation = ends.finish()
        flights = [[side, data.hex()] for side, data in conversation.flights]
        lines.append(
            json.dumps(
                {"flights": flights, "key_log": conversation.key_log.decode(), "said": [each.hex() for each in said]}
            )
        )
    (material.CORPUS / "tls.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
