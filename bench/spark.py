"""Measures `kanalyze spark` on this machine beside `kanalyze export` of the same bytes, and appends the figures to `results.md`.

Runs in the environment of PySpark (`make bench-spark`; KANALYZE_BENCH_LARGE=1: 5 GB too). Each run is a program of its own, as a
person begins it: wall time and CPU are those of Python, Java and its workers from beginning to end. Jobs, and what travels, are
told by Spark's own event log: bytes of shuffles, and of what is held on executors' disks and in their memory (checkpoints).
The slope is the CPU of the last size less that of the one before it, by their bytes: what a GB more costs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from captures import chatty
from make_captures import DATA
from measure import Measured, measure, middle
from results import ROOT, append

SIZES = (8_000_000, 100_000_000, 500_000_000)
# The program stands in the environment without PySpark, whose packages the other one sees.
PROGRAM = str(ROOT / ".venv" / "bin" / "kanalyze")
LARGE = "KANALYZE_BENCH_LARGE"
LARGE_SIZE = 5_000_000_000
COLUMNS = (
    *("capture", "wall s", "CPU s", "largest MB", "all MB", "jobs", "stages"),
    *("shuffled, of its bytes", "held, of its bytes", "read again, of its bytes", "dataset MB", "exchanges MB"),
)


class Told(NamedTuple):
    """What the event log tells of a run: bytes written to shuffles, held in blocks, and read from both."""

    jobs: int
    stages: int
    shuffled_bytes: int
    held_bytes: int
    read_bytes: int


def told(log: Path) -> Told:
    """Sums over the events of all applications below a directory."""
    jobs = stages = shuffled = read = 0
    held: dict[str, int] = {}
    for event in _events(log):
        kind = event["Event"]
        jobs += kind == "SparkListenerJobStart"
        stages += kind == "SparkListenerStageCompleted"
        if kind == "SparkListenerTaskEnd":
            metrics = event.get("Task Metrics") or {}
            shuffled += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
            reading = metrics.get("Shuffle Read Metrics", {})
            read += reading.get("Local Bytes Read", 0) + reading.get("Remote Bytes Read", 0)
            read += metrics.get("Input Metrics", {}).get("Bytes Read", 0)
        elif kind == "SparkListenerBlockUpdated":
            block = event["Block Updated Info"]
            if block["Block ID"].startswith("rdd_"):
                held[block["Block ID"]] = max(held.get(block["Block ID"], 0), block["Memory Size"] + block["Disk Size"])
    return Told(jobs, stages, shuffled, sum(held.values()), read)


def _events(log: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(log.rglob("*")):
        if path.is_file() and not path.name.startswith((".", "appstatus")):
            with path.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)


def on_spark(capture: Path, folder: Path, cores: int) -> tuple[Measured, Told, int, int]:
    """One run, and the bytes of its dataset and of its exchanges."""
    log, out = folder / "log", folder / "tables"
    log.mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.logBlockUpdates.enabled": "true",
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [sys.executable, PROGRAM, "spark", str(capture), "--out", str(out), "--jobs", str(cores), *words]
    run = measure(command, os.environ | {"SPARK_LOCAL_DIRS": str(folder)})
    found = run, told(log), _size(out), _size(out / "exchanges")
    shutil.rmtree(out)
    shutil.rmtree(log)
    return found


def here(capture: Path, folder: Path, cores: int) -> tuple[Measured, int, int]:
    """`kanalyze export`, and the bytes of its dataset and of its exchanges."""
    out = folder / "tables"
    run = measure([PROGRAM, "export", str(capture), "--to", str(out), "--jobs", str(cores)])
    found = run, _size(out), _size(out / "exchanges")
    shutil.rmtree(out)
    return found


def _size(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def slopes(found: list[tuple[int, Measured]]) -> Iterator[str]:
    """CPU seconds that each GB more costs, from one size to the next."""
    for (before, less), (size, more) in pairwise(found):
        per_gb = (more.cpu_seconds - less.cpu_seconds) / (size - before) * 1e9
        yield f"{before / 1e6:,.0f} to {size / 1e6:,.0f} MB {per_gb:.1f}"


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure the job on Spark beside the processes of this machine.")
    asked.add_argument("--folder", type=Path, default=DATA, help="where the captures are, or are to be written")
    asked.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    asked.add_argument("--rounds", type=int, default=1)
    asked.add_argument("--size", type=int, action="append", help="bytes of a capture; may be repeated")
    given = asked.parse_args()
    sizes = given.size or (*SIZES, *([LARGE_SIZE] if os.environ.get(LARGE) else []))
    lines: list[list[str]] = []
    runs: dict[str, list[tuple[int, Measured]]] = {"spark": [], "export": []}
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for size in sizes:
            capture = chatty(given.folder, size).path
            size = capture.stat().st_size
            there = [on_spark(capture, Path(name), given.cores) for _ in range(given.rounds)]
            local = [here(capture, Path(name), given.cores) for _ in range(given.rounds)]
            run, _, *bytes_there = middle([run for run, *_ in there]), *there[-1][1:]
            last = there[-1][1]
            moved = [f"{each / size:.3f}" for each in (last.shuffled_bytes, last.held_bytes, last.read_bytes)]
            lines.append(
                [
                    f"spark {size / 1e6:,.0f} MB",
                    *_times(run),
                    str(last.jobs),
                    str(last.stages),
                    *moved,
                    *_mb(bytes_there),
                ]
            )
            run_here = middle([each for each, *_ in local])
            lines.append([f"export {size / 1e6:,.0f} MB", *_times(run_here), *[""] * 5, *_mb(local[-1][1:])])
            runs["spark"].append((size, run))
            runs["export"].append((size, run_here))
    for kind, found in runs.items():
        print(f"{kind}: CPU s for each GB more: {'; '.join(slopes(found))}")
    append(f"kanalyze spark, local[{given.cores}]", COLUMNS, lines)


def _times(run: Measured) -> list[str]:
    return [
        f"{run.seconds:.1f}",
        f"{run.cpu_seconds:.1f}",
        f"{run.peak_bytes / 1e6:,.0f}",
        f"{run.sum_bytes / 1e6:,.0f}",
    ]


def _mb(sizes: Any) -> list[str]:
    return [f"{size / 1e6:,.1f}" for size in sizes]


if __name__ == "__main__":
    main()
