"""Measures the job on Spark beside `kanalyze export` on this machine: the same bytes as one file, 4, 16, and as a rotating
tcpdump writes them, 64 MB each; and one connection, with all cores and with one.

Runs in the environment of PySpark (`make bench-spark`). For each capture: seconds until the fragments are stitched, seconds
until the dataset is written, MB/s for each core, the share of the bytes read that travels to be stitched, and the most
memory of a Python worker. Java and the session are there before the clock starts; a small job has warmed the workers.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import google_crc32c
from make_captures import DATA, FILE_HEADER, PACKET, RECIPES, make
from run import measure

from analyzer.base.options import Options
from analyzer.distributed.plan import TARGET_BYTES
from analyzer.spark import get_session, write
from analyzer.spark.job import planned, run
from analyzer.spark.rows import FRAGMENTS

ROOT = Path(__file__).resolve().parent.parent
FILES = (1, 4, 16)
# Small enough that a capture of some GB has tasks for all cores.
TASK_BYTES = 64 << 20
# Of rotated files as many become one task as the plan puts there by itself.
ROTATED_BYTES = 64_000_000
PRODUCE_BYTES = 60_000
SEGMENT_BYTES = 1_448
STEP_US = 500


class Run(NamedTuple):
    """Seconds until all connections are whole, and until the dataset is there; bytes of fragments; the largest worker."""

    read_seconds: float
    seconds: float
    fragment_bytes: int
    peak_bytes: int


def parts(capture: Path, count: int, folder: Path) -> list[Path]:
    """The capture as so many files of about the same size, as a rotating tcpdump writes them."""
    if count == 1:
        return [capture]
    size = capture.stat().st_size // count
    paths = [folder / f"{capture.stem}-{count:02}-{number:02}.pcap" for number in range(count)]
    with capture.open("rb", buffering=1 << 20) as source:
        source.read(len(FILE_HEADER))
        for path in paths:
            with path.open("wb", buffering=1 << 20) as target:
                target.write(FILE_HEADER)
                while path == paths[-1] or target.tell() < size:
                    head = source.read(PACKET.size)
                    if not head:
                        break
                    target.write(head + source.read(PACKET.unpack(head)[2]))
    return paths


def one_connection(path: Path, size: int) -> Path:
    """A producer and its broker, one request at a time, for `size` bytes."""
    with path.open("wb", buffering=1 << 20) as file:
        file.write(FILE_HEADER)
        for packet in _conversation():
            file.write(packet)
            if file.tell() >= size:
                return path
    raise AssertionError("a conversation has no end")


def _conversation() -> Iterator[bytes]:
    sent, answered, time_us = 1_000, 5_000, 0
    batch = _batch(bytes(PRODUCE_BYTES))
    correlation = 0
    while True:
        header = struct.pack(">hhih5s", 0, 3, correlation, 5, b"bench")
        body = struct.pack(">hhiih6siii", -1, 1, 30_000, 1, 6, b"orders", 1, 0, len(batch)) + batch
        request = struct.pack(">i", len(header) + len(body)) + header + body
        for at in range(0, len(request), SEGMENT_BYTES):
            piece = request[at : at + SEGMENT_BYTES]
            yield _packet(time_us, b"\x01", b"\x02", sent, answered, piece)
            sent = (sent + len(piece)) & 0xFFFFFFFF
            time_us += 5
        reply = struct.pack(">iih6siihqqi", correlation, 1, 6, b"orders", 1, 0, 0, correlation, -1, 0)
        time_us += STEP_US
        yield _packet(time_us, b"\x02", b"\x01", answered, sent, struct.pack(">i", len(reply)) + reply)
        answered = (answered + 4 + len(reply)) & 0xFFFFFFFF
        correlation = (correlation + 1) & 0x7FFFFFFF
        time_us += STEP_US


def _batch(value: bytes) -> bytes:
    """A record batch (format 2) with one record."""
    length = len(value)
    record = b"\x00\x00\x00\x01" + _varint(2 * length) + value + b"\x00"
    record = _varint(2 * len(record)) + record
    after_crc = struct.pack(">hiqqqhii", 0, 0, 1, 1, -1, -1, -1, 1) + record
    rest = struct.pack(">ibI", 0, 2, google_crc32c.value(after_crc)) + after_crc
    return struct.pack(">qi", 0, len(rest)) + rest


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _packet(time_us: int, source: bytes, target: bytes, sequence: int, acknowledged: int, payload: bytes) -> bytes:
    ports = (40_000, 9_092) if source == b"\x01" else (9_092, 40_000)
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence, acknowledged, 0x50, 0x18, 4_096, 0, 0)
    total = 20 + len(tcp) + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + b"\x0a\0\0" + source + b"\x0a\0\0" + target
    frame = bytes(12) + b"\x08\0" + ip + tcp + payload
    return PACKET.pack(1_800_000_000 + time_us // 1_000_000, time_us % 1_000_000, len(frame), len(frame)) + frame


def on_spark(spark: Any, paths: Sequence[Path], out: Path, task_bytes: int = TASK_BYTES) -> Run:
    """The job over some captures."""
    began = perf_counter()
    given = planned([str(path) for path in paths], Options(), task_bytes)
    with run(spark, given) as tables:
        read_seconds = perf_counter() - began
        write(tables, str(out))
        seconds = perf_counter() - began
        told = [done for stage in tables.stages for done in stage.done.values()]
    shutil.rmtree(out)
    return Run(
        read_seconds, seconds, sum(done.bytes[FRAGMENTS] for done in told), max(done.peak_bytes for done in told)
    )


def on_this_machine(paths: Sequence[Path], out: Path, cores: int) -> float:
    """Seconds of `kanalyze export` with a process for each core."""
    program = str(ROOT / ".venv" / "bin" / "kanalyze")
    words = ["export", *map(str, paths), "--to", str(out), "--jobs", str(cores)]
    seconds = measure([program, *words]).seconds
    shutil.rmtree(out)
    return seconds


def session(cores: int) -> Any:
    """A session of its own on so many cores."""
    return get_session(f"local[{cores}]", [("spark.ui.showConsoleProgress", "false")])


def report(name: str, size: int, cores: int, spark: Run, local_seconds: float) -> None:
    """One line."""
    per_core = size / 1e6 / cores
    print(
        f"  {name:<16}{spark.read_seconds:8.1f} s read {spark.seconds:8.1f} s written"
        f"  {per_core / spark.read_seconds:7.1f} and {per_core / spark.seconds:6.1f} MB/s per core"
        f"  {100 * spark.fragment_bytes / size:6.2f} % to stitch  {spark.peak_bytes / 1e6:6.0f} MB worker"
        f"   on this machine {local_seconds:7.1f} s, {per_core / local_seconds:6.1f} MB/s per core",
        flush=True,
    )


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure the job on Spark beside the processes of this machine.")
    asked.add_argument("--folder", type=Path, default=DATA, help="where the captures are, or are to be written")
    asked.add_argument("--bytes", type=int, default=2_000_000_000, help="size of each data set")
    asked.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    given = asked.parse_args()
    recipe = next(recipe for recipe in RECIPES if recipe.name == "mixed")
    capture = make(replace(recipe, name=f"mixed_{given.bytes // 1_000_000}", bytes=given.bytes), given.folder)
    spark = session(given.cores)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        on_spark(spark, [one_connection(folder / "warm.pcap", 1_000_000)], folder / "out")
        alone = one_connection(folder / "alone.pcap", given.bytes)
        print(f"{given.cores} cores, {given.bytes / 1e6:,.0f} MB, Spark {spark.version}")

        def show(label: str, paths: Sequence[Path], task_bytes: int = TASK_BYTES) -> None:
            size = sum(path.stat().st_size for path in paths)
            there = on_spark(spark, paths, folder / "out", task_bytes)
            report(label, size, given.cores, there, on_this_machine(paths, folder / "out", given.cores))

        for count in FILES:
            show(f"{count} file{'s' * (count > 1)}", parts(capture, count, folder))
        rotated = parts(capture, max(1, given.bytes // ROTATED_BYTES), folder)
        show(f"{len(rotated)} rotated", rotated, TARGET_BYTES)
        show("one connection", [alone])
        spark.stop()
        spark = session(1)
        there = on_spark(spark, [alone], folder / "out")
        print(f"  one connection, one core: {there.read_seconds:.1f} s read {there.seconds:.1f} s written")
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
