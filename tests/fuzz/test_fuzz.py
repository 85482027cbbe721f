"""Damaged captures through all stages: no exception, no hang, nothing uncounted, no memory that grows with a lie.

`python tests/fuzz/test_fuzz.py FOLDER SECONDS [SEED]` goes on for that long; inputs that fail stay in FOLDER.
"""

from __future__ import annotations

import faulthandler
import resource
import sys
import tempfile
import time
import traceback
from itertools import count
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "lab"), str(Path(__file__).parents[2])]

import mutate  # noqa: E402
import transform  # noqa: E402
from program import SAMPLES  # noqa: E402
from transform import Packet  # noqa: E402

from analyzer.engine import Engine, Reading  # noqa: E402
from analyzer.options import Options  # noqa: E402
from analyzer.pipeline import Pipeline  # noqa: E402
from analyzer.sources import InputError, expand  # noqa: E402

Captures = list[tuple[bytes, list[Packet]]]

INPUTS = 300
SLOWEST_SECONDS = 5.0  # a few hundred packets take milliseconds
HANGS_SECONDS = 60
MOST_MEMORY_BYTES = 300 << 20  # more than when the run began
# Limits so small that a few hundred packets reach them.
TIGHT = Options(max_frame_bytes=4096, max_connections=4, max_reassembly_bytes=64 << 10)
BLOCKS = (1 << 20, 1 << 20, 4096, 257)
SKIPPED = ("unsynced", "lost", "bad", "unfinished", "foreign", "headerless")


def samples() -> Captures:
    return [transform.read_pcap(path) for path in sorted(SAMPLES.glob("*.pcap.zst"))]


def run(
    data: bytes, folder: Path, options: Options, block_bytes: int
) -> tuple[Reading, dict[str, list[dict[str, Any]]]]:
    """One capture through the stages as `analyzer.local.analyse` runs them; the raw tables as rows.

    Raises InputError for what is no capture at all, as the program does.
    """
    import pyarrow.parquet as pq

    path = folder / "input.pcap"
    path.write_bytes(data)
    sources = expand([str(path)]).sources
    if not sources:
        raise InputError("no capture")
    pipeline = Pipeline(folder, options)
    try:
        reading = Engine(pipeline.feed, block_bytes).read(0, sources[0])
        pipeline.finish()
    finally:
        pipeline.close()
    names = ("talks", "parts", "exchanges")
    return reading, {name: pq.read_table(folder / f"raw_{name}.parquet").to_pylist() for name in names}


def check(reading: Reading, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Packets, stream bytes, requests and replies add up (design, section 3)."""
    if reading.failure is None:
        assert sum(reading.outcomes) <= reading.numbers
    parts = {row["part"]: row for row in tables["parts"]}
    asked: dict[int, int] = {}
    answered: dict[int, int] = {}
    orphans: dict[int, int] = {}
    silent: dict[int, int] = {}
    for row in tables["exchanges"]:
        if row["token"]:
            continue
        counter = orphans if row["status"] == "orphan_reply" else asked
        counter[row["part"]] = counter.get(row["part"], 0) + 1
        if row["status"] == "no_reply_expected":
            silent[row["part"]] = silent.get(row["part"], 0) + 1
        if row["status"] == "answered":
            answered[row["part"]] = answered.get(row["part"], 0) + 1
    for talk in tables["talks"]:
        part = parts[talk["part"]]
        for side in ("a", "b"):
            skipped = sum(talk[f"{side}_{reason}_bytes"] for reason in SKIPPED)
            assert talk[f"{side}_stream_bytes"] == talk[f"{side}_framed_bytes"] + skipped, talk
            assert 0 <= talk[f"{side}_stream_bytes"] <= max(0, part[f"{side}_bytes"]), (talk, part)
        # The goal is equality. When a guess of who the client is is taken back, requests without a reply (acks 0) are rows
        # already, and stay.
        written = asked.get(talk["part"], 0)
        assert written - silent.get(talk["part"], 0) <= talk["requests"] <= written, talk
        assert talk["orphans"] == orphans.get(talk["part"], 0), talk
        assert talk["matched"] == answered.get(talk["part"], 0), talk
    identities = [(row["part"], row["exchange"]) for row in tables["exchanges"]]
    assert len(identities) == len(set(identities))


def one(captures: Captures, seed: int, folder: Path) -> float:
    """Runs the input of this seed; returns how long that took in s."""
    data = mutate.mutated(captures, seed)
    options = TIGHT if seed % 4 == 3 else Options()
    faulthandler.dump_traceback_later(HANGS_SECONDS, exit=True)
    began = time.perf_counter()
    try:
        check(*run(data, folder, options, BLOCKS[seed // 4 % len(BLOCKS)]))
    except InputError:
        pass  # said in one line, and rightly: a file header without its magic number
    finally:
        faulthandler.cancel_dump_traceback_later()
    return time.perf_counter() - began


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_damaged_captures(tmp_path: Path) -> None:
    captures = samples()
    one(captures, 0, tmp_path)
    before = peak_bytes()
    for seed in range(INPUTS):
        try:
            seconds = one(captures, seed, tmp_path)
        except Exception as error:
            pytest.fail(f"seed {seed}: {error!r}", pytrace=True)
        assert seconds < SLOWEST_SECONDS, f"seed {seed} took {seconds:.1f} s"
    assert peak_bytes() - before < MOST_MEMORY_BYTES


def main(kept: Path, seconds: float, first: int) -> None:
    """Goes on until the time is over; prints what fails, the slowest input and the peak of memory."""
    captures, stop, slowest, failed = samples(), time.monotonic() + seconds, (0.0, first), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in count(first):
            if time.monotonic() > stop:
                break
            try:
                slowest = max(slowest, (one(captures, seed, Path(folder)), seed))
            except Exception:
                failed += 1
                (kept / f"seed_{seed}.pcap").write_bytes(mutate.mutated(captures, seed))
                if failed <= 20:
                    print(f"seed {seed}:\n{traceback.format_exc(limit=-4)}", flush=True)
    print(
        f"{seed - first} inputs, {failed} failed, slowest {slowest[0]:.2f} s (seed {slowest[1]}), {peak_bytes() >> 20} MiB"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
