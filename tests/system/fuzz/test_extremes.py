"""No value of any field ends a run: each field of each API at its limits, through every verb."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import count
from pathlib import Path
from shutil import rmtree

import capture_tools as tools
import extreme_messages
import pytest
import random_messages
import transform
import verb_runs
from effort import LONG
from kept_datasets import KeptDatasets
from made_capture import START_US, Conversation, merged, pcap, reply, request

from dissectors import layout

# Formats show the rows of one answer, and ports change nothing here: where not all is asked each question is, for people, and
# the report for programs.
ALIKE = re.compile(r"^dump$|--ports|--format (json|jsonl|csv)\b")
LINES = [line for line in verb_runs.LINES if LONG or line == "report --format json" or not ALIKE.search(line)]


def newest() -> list[dict[int, int]]:
    """Key -> version: the newest of each API, then the one before, and so on; the newest only where not all is asked."""
    versions: dict[int, set[int]] = defaultdict(set)
    for kind in random_messages.kinds():
        versions[kind.key].add(kind.version)
    steps = range(max(map(len, versions.values())) if LONG else 1)
    return [
        {key: sorted(of_key)[-1 - step] for key, of_key in versions.items() if len(of_key) > step} for step in steps
    ]


def capture(versions: dict[int, int]) -> bytes:
    """A client for each field, so that none is taken for a broker because of what another one said."""
    number = count()
    found = []
    for key, version in versions.items():
        for exchanges in extreme_messages.conversations_of(key, version):
            place = next(number)
            found.append(Conversation(client=0x0A000101 + place, start_us=START_US + 100 * place).shake())
            for messages in exchanges:
                found[-1].exchange(*messages)
            found[-1].close()
    return pcap(merged(found))


@pytest.mark.parametrize("step", range(len(newest())))
def test_no_value_of_a_field_ends_a_verb(tmp_path: Path, step: int) -> None:
    path, other = tmp_path / "extremes.pcap", tmp_path / "other.pcap"
    path.write_bytes(capture(newest()[step]))
    other.write_bytes(pcap(Conversation().shake().exchange(request(1), reply(1)).packets))
    with KeptDatasets() as kept:
        exchange = verb_runs.largest_exchange(kept.run(["exchanges", "--format", "jsonl", path], tmp_path).stdout)
        for line in LINES:
            words = verb_runs.words(line, path, other, exchange, tmp_path)
            if verb_runs.STDIN in words:
                done = verb_runs.run(line, words, tmp_path, given=path)
                code, told = done.code, done.err
            else:
                ran = kept.run(words, tmp_path)
                code, told = ran.returncode, ran.stderr.decode()
            assert code in ((0, 1, 3) if line.startswith("check") else (0,)), (line, code, told)
            new = tmp_path / "new"
            rmtree(new) if new.is_dir() else new.unlink(missing_ok=True)


def test_a_clock_that_jumps_from_1970_to_2262_ends_no_verb(tmp_path: Path, samples: Path) -> None:
    """Half of a sample at each end of the times that there are: durations of all of them."""
    _, packets = transform.read_pcap(samples / "groups_classic.pcap.zst")
    times = [packet.seconds * 1_000_000_000 + packet.fraction * 1000 for packet in packets]
    out = bytearray(tools.section() + tools.interface(options=tools.option(9, b"\x09")))
    for place, packet in enumerate(packets):
        early = place < len(packets) // 2
        out += tools.enhanced(packet.data, times[place] - (times[0] if early else times[-1] - layout.LATEST_TIME))
    path = tmp_path / "jumps.pcapng"
    path.write_bytes(out)
    with KeptDatasets() as kept:
        for line in ("report", "report --format json", "html -o page.html", "latency --every 87600h", "connections"):
            done = kept.run([*line.split(), path], tmp_path)
            assert done.returncode == 0, (line, done.stderr)
