"""What tshark makes of a damaged capture, beside our figures: `python tests/system/loss/tshark_figures.py CAPTURE...`

tshark counts as having found an exchange when it shows a request of the right connection, API key and correlation id, and a reply
that it ties to that API with the same correlation id. Of both the exchanges are those whose packets are all there.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import inject  # first: it puts the helpers of all tests on the path
import transform
from inject import Known

FIELDS = ("tcp.srcport", "tcp.dstport", "kafka.request_key", "kafka.response_key", "kafka.correlation_id")
SEED = 1


def found_by_tshark(path: Path, known: Known, kept: set[int]) -> tuple[int, int]:
    """(exchanges found, exchanges whose packets are all there)."""
    ports = sorted({one.row["broker_port"] for one in known.expected})
    command = ["tshark", "-r", str(path), "-Y", "kafka", "-T", "fields", "-E", "aggregator=,"]
    for port in ports:
        command += ["-d", f"tcp.port=={port},kafka"]
    for field in FIELDS:
        command += ["-e", field]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    asked: Counter[tuple[str, ...]] = Counter()
    answered: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        source, target, requests, replies, ids = (line.split("\t") + [""] * len(FIELDS))[: len(FIELDS)]
        keys = requests or replies
        for key, correlation in zip(keys.split(","), ids.split(","), strict=False):
            if requests:
                asked[source, target, key, correlation] += 1
            else:
                answered[target, source, key, correlation] += 1
    met = whole = 0
    for one in known.expected:
        if not one.request or not one.reply or not (one.request | one.reply) <= kept:
            continue
        row = one.row
        name = (str(row["client_port"]), str(row["broker_port"]), str(row["api_key"]), str(row["correlation_id"]))
        whole += 1
        if asked[name] > 0 and answered[name] > 0:
            met += 1
            asked[name] -= 1
            answered[name] -= 1
    return met, whole


def main(paths: Sequence[str]) -> None:
    for path in map(Path, paths):
        known = inject.know(path)
        for name in ("drop 0.1 %", "drop 1 %", "drop 5 %"):
            order = inject.INJECTIONS[name](known.packets, random.Random(SEED), known.brokers)
            with tempfile.TemporaryDirectory() as folder:
                damaged = transform.write_pcap(
                    Path(folder) / "damaged.pcap", known.header, [known.packets[at] for at in order]
                )
                met, whole = found_by_tshark(damaged, known, set(order))
            ours, _ = inject.measure(known, inject.INJECTIONS[name], SEED)
            share = 100 * met / whole if whole else 100.0
            print(
                f"{path.name.split('.')[0]:15} {name:10} tshark {met}/{whole} ({share:.1f} %), ours {ours}", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
