"""Mutated captures of a hundred messages each, checksums repaired, through report, export and redact.

    python tests/system/fuzz/mutated_runs.py [--captures N] [--seed N] [--keep FOLDER]

Prints a line for each run that ends with a bug of ours, takes more than 700 MB or 60 s of processor time, or breaks another law of
`verb_runs`, and at last what the runs answered and took. Capture number N depends on N alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import rmtree

# This is also a program: the helpers of all tests, and the project itself.
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import forked_kanalyze  # noqa: E402
import hostile  # noqa: E402
import material  # noqa: E402
import mutate  # noqa: E402
import transform  # noqa: E402
import verb_runs  # noqa: E402
from damage_bytes import damage  # noqa: E402
from extreme_messages import newest, some_extremes  # noqa: E402
from kind_messages import wrong_length  # noqa: E402
from made_capture import Conversation, merged, pcap  # noqa: E402

from analyzer.redact.packet_checksums import RIGHT, ip_checksum, tcp_checksum  # noqa: E402

MESSAGES = 100
LINES = ("report", f"export --format parquet --to {verb_runs.NEW}", f"redact -o {verb_runs.NEW} {verb_runs.CAPTURE}")
MOST_SECONDS = 60


def capture(number: int) -> bytes:
    """A third is cut out of samples, a third are messages with wrong bytes, a third such with numbers at their limits."""
    chance = Random(f"mutated capture {number}")
    if number % 3 == 0:
        return of_sample(chance)
    return of_messages(chance, damaged_pairs(chance) if number % 3 == 1 else extreme_pairs(chance))


def of_sample(chance: Random) -> bytes:
    """Packets with wrong fields, in another order, lost: of each that is still one of TCP the checksums are right."""
    header, packets = chance.choice(material.captures())
    chosen = mutate.stretch(packets, chance, 2 * MESSAGES)
    for _ in range(chance.randint(1, 8)):
        if chosen:
            chance.choice(mutate.MUTATIONS)(chosen, chance)
    out = bytearray(header)
    for packet in map(repaired, chosen):
        out += transform.PACKET_HEADER.pack(packet.seconds, packet.fraction, len(packet.data), packet.wire_bytes)
        out += packet.data
    return bytes(out)


def repaired(packet: transform.Packet) -> transform.Packet:
    at = mutate.borders(packet)
    if at is None or at.payload > at.end or packet.data[at.ip] >> 4 != 4:
        return packet
    data = bytearray(packet.data)
    data[at.ip + 10 : at.ip + 12] = bytes(2)
    data[at.ip + 10 : at.ip + 12] = ip_checksum(data[at.ip : at.tcp])
    data[at.tcp + 16 : at.tcp + 18] = bytes(2)
    data[at.tcp + 16 : at.tcp + 18] = tcp_checksum(data, at.ip, at.tcp, at.end, at.end - at.tcp, RIGHT)
    return replace(packet, data=bytes(data))


def damaged_pairs(chance: Random) -> Iterator[tuple[bytes, bytes]]:
    while True:
        both = []
        for whole in chance.choice(material.pairs()):
            data = bytearray(whole.frame)
            for _ in range(chance.choice((0, 1, 1, 2))):
                if whole.lengths and chance.random() < 0.5:
                    wrong_length(data, chance.choice(whole.lengths), chance)
                else:
                    damage(data, chance)
            both.append(bytes(data))
        yield both[0], both[1]


def extreme_pairs(chance: Random) -> Iterator[tuple[bytes, bytes]]:
    kinds = [kind for kind in newest() if kind.direction == "request"]
    while True:
        kind = chance.choice(kinds)
        yield some_extremes(kind.key, kind.version, chance)


def of_messages(chance: Random, pairs: Iterator[tuple[bytes, bytes]]) -> bytes:
    """A few connections, checksums left to the network card; correlation ids fit, so that replies find their requests."""
    conversations = [Conversation(client=0x0A000001 + place, port=40_000 + place).shake() for place in range(4)]
    for number in range(MESSAGES // 2):
        request, reply = next(pairs)
        identity = number.to_bytes(4, "big")
        chance.choice(conversations).exchange(request[:4] + identity + request[8:], identity + reply[4:])
    return pcap(merged(conversations))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--captures", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "mutated")
    asked = parser.parse_args()
    forked_kanalyze.load()
    maxima = {line: hostile.Maxima() for line in LINES}
    problems = 0
    with tempfile.TemporaryDirectory(prefix="mutated-") as named:
        folder = Path(named)
        path = folder / "input.pcap"
        for number in range(asked.seed, asked.seed + asked.captures):
            path.write_bytes(capture(number))
            for line in LINES:
                done = verb_runs.run(line, verb_runs.words(line, path, path, "", folder), folder)
                new = folder / "new"
                rmtree(new) if new.is_dir() else new.unlink(missing_ok=True)
                problem = hostile.broken(done, folder)
                if problem is None and done.seconds > MOST_SECONDS:
                    problem = f"{done.seconds:.0f} s"
                maxima[line].add(done, str(number))
                if problem is not None:
                    problems += 1
                    print(f"{number}: {line}: {problem[:600]}", flush=True)
                    asked.keep.mkdir(parents=True, exist_ok=True)
                    (asked.keep / f"{number}.pcap").write_bytes(path.read_bytes())
    print(f"{asked.captures:,} captures, {problems} problems")
    print("| verb | exit codes | memory at most | processor time at most |", "|---|---|---|---|", sep="\n")
    print(*(maxima[line].row(line.split()[0]) for line in LINES), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
