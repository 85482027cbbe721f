"""Every verb in every format, on files: what a run answers, how much memory and time it takes, which laws it broke.

A run is a process of its own with the address space of `LIMIT_BYTES`, forked from one that has loaded the project but
opened nothing; for large files it begins anew, so that its memory is that of a user's. Laws: exit code 0 or 2 (`check`: 1 and 3,
`redact --verify`: 1), a word on stderr where it is not 0, no traceback, JSON that is JSON, no character that a terminal acts upon,
nothing left in the temporary directory.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from kinds import law

from analyzer.base.tables import TABLES
from analyzer.base.text import printable
from analyzer.cli import main as entry

Answer = TypeVar("Answer")
LIMIT_BYTES = 4 << 30
# What stands in a verb for the capture, for another one, for the largest exchange of the capture, for a new directory.
CAPTURE, OTHER, EXCHANGE, NEW = "CAPTURE", "OTHER", "EXCHANGE", "NEW"
_COMMAND = "from analyzer.cli.main import run; run()"
# The capture comes on standard input.
STDIN = "-"
TABULAR = ("table", "json", "jsonl", "csv")
SECTIONS = {
    "brokers": ("", "--by topic"),
    "clients": ("",),
    "connections": ("",),
    "errors": ("", "--by partition", "--every 1s", "--every 1h --by client"),
    "findings": ("",),
    "groups": ("", "--part rebalances", "--part members", "--part timeline"),
    "latency": ("", "--by client --by topic", "--every 1s", "--of service"),
    "profile": ("", "--by connection"),
    "readiness": ("", "--part versions"),
    "throttle": ("", "--by broker", "--every 1s"),
    "topics": ("", "--part lag", "--part partitions", "--part delivery"),
    "transactions": ("", "--part list", "--part producers"),
    "impact": ("", "--by client --by topic", "--by app --by group"),
    "unanswered": ("",),
    "exchanges": ("",),
}


def lines() -> Iterator[str]:
    """Every command line: a verb with its options. One without CAPTURE has it at the end."""
    for form in ("table", "json", "jsonl"):
        yield f"report --format {form}"
        yield f"show --format {form} {CAPTURE} {EXCHANGE}"
        yield f"check --format {form} --max-errors 3 --max-p99 1ms --max-throttled 1% --max-unanswered 1 --no-high"
    for form in TABULAR:
        yield f"diff --format {form} {CAPTURE} {OTHER}"
        yield f"diff --format {form} {OTHER} {CAPTURE}"
        yield f"sql --format {form} {CAPTURE} SUMMARIZE"
        for verb, ways in SECTIONS.items():
            for words in ways if form in ("table", "jsonl") else ways[:1]:
                yield " ".join(f"{verb} --format {form} {words}".split())
    yield from ("dump", "dump --records", "dump --ports 9092", "report --ports 9092")
    yield "check --broker-version 4.0.0"
    yield "exchanges --format jsonl --max-frame 4KiB --max-connections 2 --max-reassembly 64KiB"
    yield f"extract --client * --comment -o {NEW} {CAPTURE}"
    yield f"extract --exchange {EXCHANGE} --bare -o {NEW} {CAPTURE}"
    yield f"html -o {NEW} {CAPTURE}"
    yield f"trace -o {NEW} {CAPTURE}"
    yield f"watch --format jsonl {STDIN}"
    yield f"redact --verify -o {NEW} {CAPTURE}"
    yield f"spark --plan --out {NEW} {CAPTURE}"
    for form in ("parquet", "csv", "jsonl"):
        yield f"export --format {form} --to {NEW}"
    for table in TABLES:
        yield f"export --table {table} --format jsonl"
    yield f"export --table exchanges --format csv {CAPTURE}"
    yield f"export --table entries --format parquet {CAPTURE}"


LINES = tuple(lines())


@dataclass(frozen=True)
class Run:
    """What one run answered. `code` is negative for a signal; `peak_bytes` of memory held; `seconds` of processor time."""

    line: str
    code: int
    peak_bytes: int
    seconds: float
    out: bytes
    err: str


def words(line: str, capture: Path, other: Path, exchange: str, folder: Path) -> list[str]:
    """The command line with what it is asked about."""
    known = {CAPTURE: str(capture), OTHER: str(other), EXCHANGE: exchange, NEW: str(folder / "new")}
    found = [known.get(word, word) for word in line.split()]
    if found[-1] == "SUMMARIZE":
        found[-1:] = ["SELECT * FROM exchanges ORDER BY request_time_ns DESC NULLS LAST LIMIT 50"]
    elif CAPTURE not in line and STDIN not in found:
        found.append(str(capture))
    return found


def apart(asked: Callable[[], Answer]) -> Answer:
    """What a function answers, asked in a process of its own: what it takes of memory goes with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            answer = pickle.dumps(asked())
            with os.fdopen(writing, "wb") as told:
                told.write(answer)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        answer = told.read()
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("a process ended without an answer")
    found: Answer = pickle.loads(answer)
    return found


def run(
    line: str,
    arguments: Sequence[str],
    folder: Path,
    given: Path | None = None,
    most_seconds: float = 600,
    anew: bool = False,
) -> Run:
    """One run in a process of its own, with `given` as its standard input; what it writes is read back from `folder`. `anew`: it
    has nothing of the memory of this one."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    out, err = folder / "out", folder / "err"
    child = os.fork()
    if child == 0:
        _child(arguments, given, out, err, temporary, anew)
    deadline = time.monotonic() + most_seconds
    peak = 0
    for step in count():
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        if step % 50 == 49:
            peak = max(peak, sum(map(_held_bytes, _family(child))))
        time.sleep(0.002)
    code = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    peak = max(peak, used.ru_maxrss * 1024)
    return Run(line, code, peak, seconds, out.read_bytes(), err.read_text("utf-8", "replace"))


def _family(process: int) -> list[int]:
    """The process and its workers."""
    found = [process]
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found += _family(int(child))
    return found


def _held_bytes(process: int) -> int:
    """Memory of one process; what several share counts for each in its part. 0 where that cannot be read."""
    with suppress(OSError):
        found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
        return int(found[1]) << 10 if found else 0
    return 0


def _child(arguments: Sequence[str], given: Path | None, out: Path, err: Path, temporary: Path, anew: bool) -> None:
    """Never returns."""
    code = 99
    try:
        if given is not None:
            os.dup2(os.open(given, os.O_RDONLY), 0)
            sys.stdin = open(0, closefd=False)  # noqa: SIM115
        for path, descriptor in ((out, 1), (err, 2)):
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(opened, descriptor)
        # pytest has put others in their place.
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        os.environ["TMPDIR"] = str(temporary)
        os.environ["COLUMNS"] = "100"
        # What tests before this one left mapped in the process counts too, so that it is added.
        most = LIMIT_BYTES + (
            0 if anew else int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        )
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        if anew:
            os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
            os.execv(sys.executable, [sys.executable, "-c", _COMMAND, *arguments])
        code = entry.main(arguments)
        with suppress(OSError):
            sys.stdout.flush()
    finally:
        os._exit(code)


def judge(done: Run, folder: Path) -> None:
    """Raises when a law is broken; empties the folder for the next run."""
    allowed = (0, 1, 2, 3) if done.line.startswith("check") else (0, 1, 2) if "--verify" in done.line else (0, 2)
    law(done.code in allowed, "exit code", done.code, done.line, done.err[-2000:])
    law("Traceback" not in done.err and "bug of ours" not in done.err, done.line, done.err[-2000:])
    law(done.code != 2 or done.err != "", "failed without a word", done.line)
    left = sorted(path.name for path in (folder / "temporary").rglob("*"))
    law(not left, "left behind", left, done.line)
    if "parquet" not in done.line:
        judge_text(done.line, done.out.decode())


def judge_text(line: str, text: str) -> None:
    """What was written is what the format asks for."""
    rows = text.split("\n")
    if "--format csv" not in line:
        law(all(printable(row) == row for row in rows), "control characters", line)
    if "jsonl" in line or line.startswith("dump"):
        for row in rows[:-1]:
            json.loads(row)
    elif "--format json" in line and text:
        json.loads(text)


def largest_exchange(out: bytes) -> str:
    """The id of the exchange with the most bytes, from the output of `exchanges --format jsonl`; #1 where there is none."""
    rows = [json.loads(row) for row in out.splitlines()]
    if not rows:
        return "#1"
    return str(max(rows, key=lambda row: (row["request_bytes"] or 0) + (row["response_bytes"] or 0))["exchange"])
