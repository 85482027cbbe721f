"""Captures in parts, read task by task and stitched in this process: what a pool or Spark does, without either."""

from __future__ import annotations

import random
import struct
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from effort import LONG
from parts_agree import agree
from runs_apart import compared, resolved_apart

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed.fragments import COMPLETE, MARKER
from analyzer.distributed.plan import Task
from analyzer.distributed.tasks import STITCHED, Outcome, read_task, stitch
from analyzer.ingest.run_tables import Run
from analyzer.ingest.tls_facts import add_secrets, read_key_logs
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import Cuts, Piece, Source
from analyzer.query.dataset import Dataset
from analyzer.run import local
from dissectors.layout import SPLIT_SHIFT

# A packet of samples/groups_classic: before it a member of a group is killed whose leader goes on.
KILLED_MEMBER = 6_036
LITTLE_ENDIAN = (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")


class Told(NamedTuple):
    """What came of reading tasks: bytes of packets, those of them that travelled, spans that fitted, whole connections,
    (task, flow) refuted."""

    bytes: int
    travelled: int
    spans: int
    wholes: int
    refuted: set[tuple[int, int]]


def packets(raw: bytes) -> list[int]:
    """Where the records of a little-endian pcap file begin, and its end."""
    starts = [24]
    while starts[-1] + 16 <= len(raw):
        starts.append(starts[-1] + 16 + struct.unpack_from("<I", raw, starts[-1] + 8)[0])
    return [start for start in starts if start <= len(raw)]


def content(capture: Path) -> bytes:
    return b"".join(expand([str(capture)]).sources[0].blocks())


def cut(raw: bytes, folder: Path, cuts: Sequence[int], chance: random.Random | None = None) -> list[Task]:
    """A capture cut at the packets `cuts`; by `chance` some pieces that follow one another are one task."""
    starts = packets(raw)
    edges = [0, *(starts[each] for each in sorted(cuts))]
    path = folder / "cut.pcap"
    path.write_bytes(raw)
    found: list[list[Piece]] = []
    for number, (begin, end) in enumerate(zip(edges, [*edges[1:], None], strict=True)):
        source = Source(str(path), path, len(raw), begin=begin, end=end, head=raw[:24] if begin else b"", exact=True)
        source.cuts = Cuts(begin, tuple(edges[number + 1 :]), raw[:24])
        if not found or chance is None or chance.random() < 0.6:
            found.append([])
        found[-1].append(Piece(number, 0, source))
    return [Task(tuple(pieces)) for pieces in found]


def partition(folders: Sequence[Path], number: int, of: int) -> Iterator[pa.RecordBatch]:
    """The fragments of one partition, as a shuffle would bring them."""
    tables = [pq.read_table(folder / "fragments.parquet") for folder in folders]
    table = pa.concat_tables(tables)
    flows = table.column("flow")
    share = pc.subtract(flows, pc.multiply(pc.divide(flows, of), of))
    chosen = table.filter(pc.equal(share, number)).sort_by([("flow", "ascending"), ("number", "ascending")])
    yield from chosen.to_batches(max_chunksize=1_000)


def read_tasks(
    target: Path, tasks: Sequence[Task], options: Options, partitions: int, told: list[Told]
) -> tuple[Run, dict[int, Path]]:
    """Reads captures task by task and stitches them; also answers the folder of each run by its number."""
    folders: dict[int, Path] = {}
    outcomes: dict[int, Outcome] = {}
    raw_flows: dict[int, frozenset[int]] = {task.number: frozenset() for task in tasks}
    again = set(raw_flows)
    refuted: set[tuple[int, int]] = set()
    stitched: list[Outcome] = []
    turn = 0
    while again:
        turn += 1
        for task in tasks:
            if task.number in again:
                folder = target / f"task{task.number}.{turn}"
                folder.mkdir()
                outcomes[task.number] = read_task(task, folder, options, raw_flows=raw_flows[task.number])
                folders[task.number] = folder
        secrets = [each for outcome in outcomes.values() for read in outcome.readings for each in read.secrets]
        stitched = []
        for number in range(partitions):
            last = target / f"stitched{number}.{turn}"
            last.mkdir()
            folders[STITCHED >> SPLIT_SHIFT | number] = last
            rows = partition([folders[task.number] for task in tasks], number, partitions)
            stitched.append(stitch(rows, last, options, number, secrets))
        found = {pair for outcome in stitched for pair in outcome.refuted}
        again = {task for task, _ in found}
        refuted |= found
        for task, flow in found:
            assert flow not in raw_flows[task], "what leaves raw cannot be refuted"
            raw_flows[task] |= {flow}
    done = [*outcomes.values(), *stitched]
    summary = done[0].summary
    for outcome in done[1:]:
        summary += outcome.summary
    readings = [reading for outcome in outcomes.values() for reading in outcome.readings]
    keys = read_key_logs(options.tls_key_logs)
    for secret in secrets:
        add_secrets(keys, *secret)
    fragments = [pq.read_table(folders[task.number] / "fragments.parquet") for task in tasks]
    told.append(
        Told(
            sum(reading.bytes for reading in readings),
            sum(table.column("payload").nbytes + 60 * table.num_rows for table in fragments),
            *(
                sum(pc.sum(pc.equal(table.column("kind"), kind)).as_py() or 0 for table in fragments)
                for kind in (MARKER, COMPLETE)
            ),
            refuted,
        )
    )
    return Run(readings, summary, keys, list(folders.values())), folders


def rows(dataset: Dataset, table: str) -> list[str]:
    return sorted(repr(compared(table, row)) for row in dataset.query(f"SELECT * FROM {table}"))


def tables(dataset: Dataset) -> dict[str, list[str]]:
    with dataset:
        return {table: rows(dataset, table) for table in TABLES}


def of_one_run(raw: bytes, folder: Path, options: Options) -> dict[str, list[str]]:
    """The rows of one run over the whole capture, by table."""
    whole = folder / "whole.pcap"
    whole.write_bytes(raw)
    return tables(local.open_dataset([str(whole)], options))


def same_rows(
    raw: bytes,
    tasks: list[Task],
    folder: Path,
    partitions: int,
    options: Options,
    expected: dict[str, list[str]] | None = None,
    apart: bool = LONG,
) -> Told:
    """Asserts that tasks give the rows of one run over the whole capture, which `expected` are when they are known: resolved by
    one process over all rows, and (with `apart`, and always by `make test-all`) where the rows lie, which takes a second a run."""
    told: list[Told] = []
    target, scratch = (Path(tempfile.mkdtemp(dir=folder)) for _ in range(2))
    read, folders = read_tasks(target, tasks, options, partitions, told)
    found = tables(local.dataset_of(lambda _: read, options, [], False))
    where_they_lie = None
    if apart:
        where_they_lie = resolved_apart(
            read, folders, options, scratch, buckets=1 + len(raw) % 3, by_day=len(raw) % 2 == 0
        )
    if expected is None:
        expected = of_one_run(raw, folder, options)
    for table in TABLES:
        assert agree(table, found[table], expected[table]), table
        if where_they_lie is not None:
            assert agree(table, where_they_lie[table], expected[table]), f"{table}, resolved where the rows lie"
    return told[0]


def days(capture: Path, count: int, folder: Path) -> list[Path]:
    """The capture as several, one after the other."""
    raw = content(capture)
    starts = packets(raw)
    edges = [starts[(len(starts) - 1) * day // count] for day in range(count)] + [starts[-1]]
    return _divided(raw, edges, folder)


def cut_at(capture: Path, packet: int, folder: Path) -> list[Path]:
    """The capture as two, the second of which begins with a packet, counted from 0."""
    raw = content(capture)
    starts = packets(raw)
    return _divided(raw, [starts[0], starts[packet], starts[-1]], folder)


def _divided(raw: bytes, edges: Sequence[int], folder: Path) -> list[Path]:
    paths = [folder / f"day{day}.pcap" for day in range(len(edges) - 1)]
    for path, begin, end in zip(paths, edges, edges[1:], strict=False):
        path.write_bytes(raw[:24] + raw[begin:end])
    return paths


def later(raw: bytes, seconds: int) -> bytes:
    """A little-endian pcap with its packets later by some time."""
    moved = bytearray(raw)
    for at in packets(raw)[:-1]:
        moved[at : at + 4] = struct.pack("<I", struct.unpack_from("<I", raw, at)[0] + seconds)
    return bytes(moved)
