"""Runs on this machine: captures -> tables in a temporary directory -> a Dataset that verbs ask.

Inputs are read in the order of their first packets, as one capture: rotated files go on in each other. What cannot be read is
told in `Dataset.warnings` and sets `Dataset.failed`; the rest is analysed all the same.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer import resolve
from analyzer.dataset import Dataset, is_dataset, parquet
from analyzer.dataset import open_dataset as open_exported
from analyzer.links import link_name
from analyzer.sources import InputError, Source, expand
from analyzer.tables import TABLES
from dissectors import layout
from dissectors.errors import DissectError

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.engine import Reading
    from analyzer.options import Options
    from analyzer.pipeline import FrameHook, Pipeline

RAW = ("exchanges", "entries", "errors", "problems", "parts", "talks", "whole", "splits", "notes")
# What has a row per connection, file or fact at most.
SMALL = (
    "captures",
    "raw_splits",
    "raw_whole",
    "raw_notes",
    *resolve.FACTS,
    "parts",
    "introductions",
    "connections",
    "topic_names",
)
# Words for SEEN_ outcomes, in their order: columns of `captures`.
OUTCOMES = ("tcp", "not_ip", "not_tcp", "fragment", "cut", "malformed", "unknown_link")
NOTE_TYPES = {
    "file": "int32",
    "packet": "int64",
    "time_ns": "int64",
    "offset": "int64",
    "kind": "string",
    "bytes_lost": "int64",
    "detail": "string",
}
# PROBLEM_ number -> the option that would avoid it.
LIMITS = {12: "--max-reassembly", 23: "--max-connections"}
SPLIT_TYPES = {"split": "int64", "file": "int32", "packets_before": "int64"}
HEAD_READ_BYTES = 1 << 16


class Split(NamedTuple):
    """A part of input number `file`, readable as a capture of its own; the splits of a file come in its order."""

    source: Source
    file: int


def open_dataset(
    inputs: Sequence[str],
    options: Options,
    progress: Callable[[int], None] | None = None,
    block_bytes: int | None = None,
) -> Dataset:
    """The tables of captures, or of one exported directory. Raises InputError when nothing at all could be read.

    `progress` hears of bytes as they are read.
    """
    if len(inputs) == 1 and is_dataset(Path(inputs[0])):
        return open_exported(Path(inputs[0]), filters=options.filters, temp_directory=options.temp_dir)
    found = expand(inputs)
    warnings = [str(error) for error in found.errors]
    if not found.sources:
        raise InputError("\n".join(warnings))
    failed = bool(warnings)
    if found.passed_over:
        warnings.append(_passed_over(found.passed_over))

    def run(folder: Path) -> tuple[list[Reading], Pipeline]:
        return analyse(in_time_order(found.sources), folder, options, progress=progress, block_bytes=block_bytes)

    return _dataset(run, options, warnings, failed)


def open_splits(splits: Sequence[Split], options: Options) -> Dataset:
    """The tables of captures that were cut into splits: the same rows as those of the whole captures."""
    return _dataset(lambda folder: analyse_splits(splits, folder, options), options, [], False)


def _dataset(
    run: Callable[[Path], tuple[list[Reading], Pipeline]], options: Options, warnings: list[str], failed: bool
) -> Dataset:
    """Runs the stages in a temporary directory that lives as long as the dataset."""
    folder = Path(tempfile.mkdtemp(prefix="kanalyze-", dir=options.temp_dir))
    try:
        readings, pipeline = run(folder)
        warnings += [line for reading in readings for line in _warnings(reading)]
        warnings += _limits(pipeline)
        if all(reading.failure for reading in readings):
            raise InputError("\n".join(warnings))
        _write_small_tables(folder, readings, pipeline)
        return Dataset(
            _views(folder, readings, pipeline),
            kept=SMALL,
            filters=options.filters,
            cleanup=lambda: shutil.rmtree(folder, ignore_errors=True),
            warnings=warnings,
            failed=failed or any(_unreadable(reading) for reading in readings),
            temp_directory=options.temp_dir,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def analyse(
    sources: Sequence[Source],
    folder: Path,
    options: Options,
    *,
    hook: FrameHook | None = None,
    progress: Callable[[int], None] | None = None,
    block_bytes: int | None = None,
) -> tuple[list[Reading], Pipeline]:
    """One pass over the sources: raw tables grow in `folder`, the small facts are in what comes back."""
    from analyzer.engine import BLOCK_BYTES, Engine
    from analyzer.pipeline import Pipeline

    pipeline = Pipeline(folder, options, hook)
    try:
        engine = Engine(pipeline.feed, block_bytes or BLOCK_BYTES)
        readings = [engine.read(split, source, progress) for split, source in enumerate(sources)]
        pipeline.finish()
    finally:
        pipeline.close()
    return readings, pipeline


def analyse_splits(splits: Sequence[Split], folder: Path, options: Options) -> tuple[list[Reading], Pipeline]:
    """The same for captures that were cut: each split alone becomes fragments, then `stitch` finishes the connections.

    The rows are those of an uncut run. Fragments of all splits are in memory at once.
    """
    from analyzer.engine import Engine
    from analyzer.fragments import by_connection, pack, stitch
    from analyzer.pipeline import Pipeline

    batches: list[pa.RecordBatch] = []
    readings: list[Reading] = []
    for number, split in enumerate(splits):
        engine = Engine(lambda *segments: batches.append(pack(*segments)))
        reading = engine.read(number, split.source)
        before = sum(earlier.numbers for earlier in readings if earlier.file == split.file)
        reading.file, reading.packets_before = split.file, before
        readings.append(reading)
    pipeline = Pipeline(folder, options)
    try:
        stitch(by_connection(batches), pipeline.feed)
        pipeline.finish()
    finally:
        pipeline.close()
    return readings, pipeline


def in_time_order(sources: Sequence[Source]) -> list[Source]:
    """Sources by the time of their first packet; those without one keep their place at the end.

    Standard input cannot be read twice: with it, the order given is kept.
    """
    if len(sources) < 2 or any(source.name == "-" for source in sources):
        return list(sources)
    return sorted(sources, key=_first_time)


def _first_time(source: Source) -> tuple[bool, int]:
    from dissectors.net.formats import open_reader

    row = layout.matrix(layout.PACKET_COLUMNS, 1)
    head = b""
    try:
        for block in source.blocks(HEAD_READ_BYTES):
            head += block
            rows, _, _ = open_reader(head).feed(head, 0, row)
            if rows or len(head) > 16 * HEAD_READ_BYTES:
                break
        return not head, row[layout.PACKET_TIME, 0]
    except (DissectError, InputError):
        return True, 0  # told when it is read


def _passed_over(names: Sequence[str]) -> str:
    shown = ", ".join(Path(name).name for name in names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{Path(names[0]).parent}: passed over what is no capture, {len(names)} of its files ({shown})"


def _limits(pipeline: Pipeline) -> Iterator[str]:
    """A run that hit a limit says so: its numbers are not those of the whole capture."""
    for number, option in LIMITS.items():
        count = pipeline.problems_by_kind.get(number, 0)
        if count:
            _, sentence = resolve.PROBLEM_KINDS[number]
            times = f" ({count:,} times)" if count > 1 else ""
            yield f"a limit was reached{times}, so something is missing from all that follows: {sentence} Raise {option}."
    if pipeline.problems_dropped:
        yield f"{pipeline.problems_dropped:,} problems more than the table `problems` lists: it takes some thousand at a time"


def _unreadable(reading: Reading) -> bool:
    """A file that ends inside a packet is the usual end of a capture; one that is damaged earlier was not read."""
    return reading.failure is not None or any(note.kind == "damaged" for note in reading.notes)


def _warnings(reading: Reading) -> Iterator[str]:
    if reading.failure:
        yield reading.failure
    for note in reading.notes:
        yield f"{reading.source.name}: {note.text}"
    unknown = reading.outcomes[layout.SEEN_UNKNOWN_LINK]
    if unknown:
        links = ", ".join(link_name(link) for link in reading.link_types)
        yield (
            f"{reading.source.name}: {unknown:,} packets passed over: no reader for their link type ({links}); "
            "capture on Ethernet, cooked or raw IP instead"
        )


def _write_small_tables(folder: Path, readings: Sequence[Reading], pipeline: Pipeline) -> None:
    """The tables that are small enough to be made from Python objects."""
    files = sorted({reading.file for reading in readings})
    captures = [_capture([reading for reading in readings if reading.file == file]) for file in files]
    _write(folder / "captures.parquet", captures, {column.name: column.type for column in TABLES["captures"]})
    _write(folder / "raw_splits.parquet", [_split(reading) for reading in readings], SPLIT_TYPES)
    whole = [{"part": part} for part in sorted(pipeline.whole_requests)]
    _write(folder / "raw_whole.parquet", whole, {"part": "int64"})
    notes = [
        {
            "file": reading.file,
            "packet": reading.packets_before + note.packet,
            "time_ns": None,
            "offset": note.offset,
            "kind": f"capture_{note.kind}",
            "bytes_lost": note.lost_bytes,
            "detail": note.text,
        }
        for reading in readings
        for note in reading.notes
    ]
    _write(folder / "raw_notes.parquet", notes, NOTE_TYPES)


def _write(path: Path, rows: list[dict[str, Any]], types: Mapping[str, str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()}
    pq.write_table(pa.table(columns), path)


def _split(reading: Reading) -> dict[str, Any]:
    return {"split": reading.split, "file": reading.file, "packets_before": reading.packets_before}


def _capture(readings: Sequence[Reading]) -> dict[str, Any]:
    """The row of one input: all its splits together."""
    counts = [sum(column) for column in zip(*(reading.outcomes for reading in readings), strict=True)]
    packets = {f"{word}_packets": count for word, count in zip(OUTCOMES, counts, strict=True)}
    links = dict.fromkeys(link_name(link) for reading in readings for link in reading.link_types)
    drops = [reading.dropped_packets for reading in readings if reading.dropped_packets is not None]
    firsts = [reading.first_time_ns for reading in readings if reading.first_time_ns is not None]
    lasts = [reading.last_time_ns for reading in readings if reading.last_time_ns is not None]
    return packets | {
        "file": readings[0].file,
        "path": readings[0].source.name,
        "tap": None,
        "format": readings[0].format,
        "bytes": sum(reading.bytes for reading in readings),
        "cut": any(note.kind == "cut" for reading in readings for note in reading.notes),
        "link_types": ", ".join(links) or None,
        "packets": sum(counts),
        "duplicate_packets": 0,
        "dropped_packets": sum(drops) if drops else None,
        "first_time_ns": min(firsts, default=None),
        "last_time_ns": max(lasts, default=None),
    }


def _views(folder: Path, readings: Sequence[Reading], pipeline: Pipeline) -> dict[str, str]:
    whole_files = all(reading.file == reading.split for reading in readings)
    raw = {f"raw_{name}": parquet([folder / f"raw_{name}.parquet"]) for name in RAW}
    return raw | {"captures": parquet([folder / "captures.parquet"])} | resolve.views(pipeline.api_keys(), whole_files)
