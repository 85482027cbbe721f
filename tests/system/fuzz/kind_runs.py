"""Whole runs: damaged captures as a local run reads them, to raw Parquet tables, and as each verb prints them."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import material
from kind_captures import Captures
from kinds import law

from analyzer.base.options import Options
from analyzer.base.text import printable
from analyzer.cli.main import main
from analyzer.ingest.pipeline import Pipeline
from analyzer.inputs.engine import Engine, Reading
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import InputError
from dissectors import layout

SKIPPED = ("unsynced", "lost", "bad", "unfinished", "foreign", "headerless")
# Limits so small that a few hundred packets reach them.
TIGHT = Options(max_frame_bytes=4096, max_connections=4, max_reassembly_bytes=64 << 10)
BLOCKS = (1 << 20, 1 << 20, 4096, 257)
VERBS = (
    "report", "report --format json", "report --format jsonl", "exchanges", "exchanges --format json",
    "exchanges --format csv", "exchanges --format jsonl", "dump", "clients", "connections", "errors", "latency",
    "throttle", "unanswered", "impact", "export --table entries", "export --table problems --format csv", "show #1",
    "report --ports 9092", "dump --ports 9092", "exchanges --max-frame 4KiB --max-connections 2 --max-reassembly 64KiB",
)  # fmt: skip


class Runs:
    """Packets, stream bytes, requests and replies of the raw tables add up (design, section 3)."""

    name = "runs"
    round_inputs = 1

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="kanalyze-fuzz-")
        self.captures = Captures()

    def make(self, chance: Random) -> bytes:
        return self.captures.make(chance)

    def check(self, inputs: Sequence[bytes]) -> None:
        for data in inputs:
            options = TIGHT if len(data) % 4 == 3 else Options()
            try:
                reading, tables = run(data, Path(self.folder.name), options, BLOCKS[len(data) // 4 % len(BLOCKS)])
            except InputError:
                continue  # said in one line, and rightly: a file header without its magic number
            check_tables(reading, tables)


class Verbs:
    """Any verb in any format: exit code 0 or 2, no traceback, JSON that is JSON, nothing that a terminal acts upon."""

    name = "verbs"
    round_inputs = 1

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="kanalyze-fuzz-")
        self.captures = Captures()

    def make(self, chance: Random) -> tuple[str, bytes]:
        material.captures()
        return chance.choice(VERBS), self.captures.make(chance)

    def check(self, inputs: Sequence[tuple[str, bytes]]) -> None:
        path = Path(self.folder.name) / "input.pcap"
        for verb, data in inputs:
            path.write_bytes(data)
            words = verb.split()
            where = [str(path), *words[1:]] if words[0] == "show" else [*words[1:], str(path)]
            out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                code = main([words[0], *where, "--temp-dir", self.folder.name])
            out.flush()
            said = err.getvalue()
            law(code in (0, 2), "exit code", code, verb, said)
            law("Traceback" not in said and "bug of ours" not in said, verb, said)
            text = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
            lines = text.split("\n")
            law(code == 0 or said != "", "failed without a word", verb)
            law(all(printable(line) == line for line in lines if "csv" not in verb), "control characters", verb)
            if "jsonl" in verb or words[0] == "dump":
                for line in lines[:-1]:
                    json.loads(line)
            elif "json" in verb and text:
                json.loads(text)


def run(
    data: bytes, folder: Path, options: Options, block_bytes: int
) -> tuple[Reading, dict[str, list[dict[str, Any]]]]:
    """One capture through the stages as `analyzer.run.one_pass.read_captures` runs them; the raw tables as rows.

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
    names = ("framed_parts", "parts", "exchanges")
    return reading, {name: pq.read_table(folder / f"raw_{name}.parquet").to_pylist() for name in names}


def check_tables(reading: Reading, tables: dict[str, list[dict[str, Any]]]) -> None:
    """The laws of `stages.check_framed_parts`, in the words of the raw tables."""
    if reading.failure is None:
        law(sum(reading.outcomes) <= reading.numbers, "outcomes", reading.outcomes, "packets", reading.numbers)
    parts = {row["part"]: row for row in tables["parts"]}
    counted: dict[tuple[int, str], int] = {}
    for row in tables["exchanges"]:
        if not row["token"]:
            asked = "orphan" if row["status"] == "orphan_reply" else "asked"
            for word in {asked, row["status"]}:
                counted[row["part"], word] = counted.get((row["part"], word), 0) + 1
    for conversation in tables["framed_parts"]:
        number = conversation["part"]
        for side in ("a", "b"):
            skipped = sum(conversation[f"{side}_{reason}_bytes"] for reason in SKIPPED)
            law(
                conversation[f"{side}_stream_bytes"] == conversation[f"{side}_framed_bytes"] + skipped,
                "bytes",
                conversation,
            )
            law(
                0 <= conversation[f"{side}_stream_bytes"] <= max(0, parts[number][f"{side}_bytes"]),
                conversation,
                parts[number],
            )
        # The goal is equality. When a guess of who the client is is taken back, requests without a reply (acks 0) are rows
        # already, and stay.
        written = counted.get((number, "asked"), 0)
        silent = counted.get((number, "no_reply_expected"), 0)
        law(written - silent <= conversation["requests"] <= written, "requests", written, silent, conversation)
        law(conversation["orphans"] == counted.get((number, "orphan"), 0), "orphans", conversation)
        law(conversation["matched"] == counted.get((number, "answered"), 0), "replies", conversation)
    identities = [(row["part"], row["exchange"]) for row in tables["exchanges"]]
    law(len(identities) == len(set(identities)), "two rows of one exchange")
    law(len(reading.outcomes) == layout.SEEN_OUTCOMES, "outcomes", reading.outcomes)
