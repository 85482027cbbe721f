"""What a run over captures gave, and the small tables that are made of it in Python, as Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.base.link_names import link_name
from analyzer.base.tables import TABLES
from analyzer.base.traffic_names import in_words, unite
from analyzer.ingest import clock_jumps
from analyzer.inputs.readings import ODD_DATAGRAMS, Reading
from dissectors.formats.capture_facts import Note, keep_note
from dissectors.formats.time_order_limits import WINDOW_NS

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.ingest.summary import Summary
    from dissectors.tls.keys import KeyLog

# Names of the SEEN_ outcomes, in their order, for columns of `captures`.
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
SPLIT_TYPES = {"split": "int64", "file": "int32", "packets_before": "int64"}
JUMP_TYPES = {"file": "int32", "packet": "int64", "until": "int64", "before_ns": "int64", "after_ns": "int64"}
ROWS_AT_ONCE = 8_192
# Of a file; more are not believed: ten million a second, for five days. So the sum of any files fits an int64.
MOST_DROPPED = 1 << 42
CAPTURE_TYPES = {column.name: column.type for column in TABLES["captures"]}


class Run(NamedTuple):
    """What reading captures gave, beside the raw tables in `folders`. `is_log`: they are brokers' logs of requests alone."""

    readings: list[Reading]
    summary: Summary
    keys: KeyLog
    folders: list[Path]
    is_log: bool = False


def small_tables(readings: Sequence[Reading], summary: Summary) -> dict[str, pa.Table]:
    """`captures`, a row per input, and the raw tables `raw_splits`, `raw_jumps`, `raw_whole` and `raw_notes`."""
    files = by_file(readings)
    duplicates = Counter[int]()
    for reading in readings:
        duplicates[reading.file] += summary.duplicates[reading.split]
    return {
        "captures": _table((_capture(reading, summary, duplicates[reading.file]) for reading in files), CAPTURE_TYPES),
        "raw_splits": _table(_splits(readings), SPLIT_TYPES),
        "raw_jumps": _table(_jumps(files), JUMP_TYPES),
        "raw_whole": _table(({"part": part} for part in sorted(summary.whole_requests)), {"part": "int64"}),
        "raw_notes": _table((_note(reading.file, note) for reading in files for note in reading.notes), NOTE_TYPES),
    }


def by_file(readings: Sequence[Reading]) -> list[Reading]:
    """One reading for each input: its splits united, with notes as if it had been read at once."""
    return [_united(list(splits)) for _, splits in groupby(_in_order(readings), key=lambda reading: reading.file)]


def _in_order(readings: Sequence[Reading]) -> list[Reading]:
    return sorted(readings, key=lambda reading: (reading.file, reading.split))


def _united(splits: Sequence[Reading]) -> Reading:
    first = splits[0]
    firsts = [reading.first_time_ns for reading in splits if reading.first_time_ns is not None]
    lasts = [reading.last_time_ns for reading in splits if reading.last_time_ns is not None]
    drops: dict[int, int] = {}
    for reading in splits:
        drops |= reading.drops  # each counts from the beginning of the capture, so the newest is the sum
    return Reading(
        first.split,
        first.source,
        first.file,
        tap=first.tap,
        capture_point=first.capture_point,
        format=first.format,
        bytes=sum(reading.bytes for reading in splits),
        numbers=sum(reading.numbers for reading in splits),
        outcomes=[sum(counts) for counts in zip(*(reading.outcomes for reading in splits), strict=True)],
        link_types=list(dict.fromkeys(link for reading in splits for link in reading.link_types)),
        unread_links=list(dict.fromkeys(link for reading in splits for link in reading.unread_links)),
        unread=unite(reading.unread for reading in splits),
        first_time_ns=min(firsts, default=None),
        last_time_ns=max(lasts, default=None),
        drops=drops,
        snap_bytes=min((reading.snap_bytes for reading in splits if reading.snap_bytes), default=None),
        notes=_notes(splits),
        steps=_steps(splits),
        dropped_steps=sum(reading.dropped_steps for reading in splits),
        failure=next((reading.failure for reading in splits if reading.failure), None),
    )


def _notes(splits: Sequence[Reading]) -> list[Note]:
    notes: list[Note] = []
    before = 0
    for reading in splits:
        for note in reading.notes:
            keep_note(notes, note.behind(before))
        before += reading.numbers
    for what, *counts in zip(ODD_DATAGRAMS, *(reading.odd_datagrams for reading in splits), strict=True):
        if sum(counts):
            notes.append(Note("odd", 0, before, f"{sum(counts):,} {what}"))
    notes += _disorder(splits)
    notes += _far_ahead(splits)
    return notes


def _disorder(splits: Sequence[Reading]) -> Iterator[Note]:
    """What could not be put in the order of time."""
    late, steps = (
        sum(counts) for counts in zip(*((each.late_packets, each.steps_back) for each in splits), strict=True)
    )
    jumps = clock_jumps.jumps(_steps(splits), sum(each.dropped_steps for each in splits))
    if 0 < len(jumps) <= 2 * sum(each.far_ahead for each in splits):
        jumps = []  # there and back: `_far_ahead` names those
    before = accumulate((each.numbers for each in splits), initial=0)
    first = [count + each.first_disorder for count, each in zip(before, splits, strict=False) if each.first_disorder]
    told = []
    if late:
        late_ms = max(each.late_ns for each in splits) / 1e6
        told.append(f"{late:,} packets are too late to be sorted by time (by up to {late_ms:,.1f} ms)")
    if jumps:
        told.extend(clock_jumps.words(jumps))
        first.append(jumps[0].packet)
    elif steps:
        # Interfaces whose clocks differ: packets of one are in order.
        told.append(
            f"the time jumps back by more than {WINDOW_NS // 10**9} s ({'once' if steps == 1 else f'{steps:,} times'})"
        )
    if told:
        text = f"{' and '.join(told)}, first at packet {min(first)}: requests and replies may be missing, and times may be wrong"
        todo = clock_jumps.advice(jumps) if jumps else "Sort the capture first: reordercap CAPTURE SORTED"
        yield Note("odd", 0, min(first), f"{text}{'; ' if jumps else '. '}{todo}")


def _steps(splits: Sequence[Reading]) -> list[tuple[int, int, int]]:
    """The steps of time of a file, with numbers of its packets."""
    before = accumulate((each.numbers for each in splits), initial=0)
    return [
        (count + packet, before_ns, after_ns)
        for count, each in zip(before, splits, strict=False)
        for packet, before_ns, after_ns in each.steps
    ]


def _jumps(files: Iterable[Reading]) -> Iterator[dict[str, Any]]:
    for reading in files:
        for jump in clock_jumps.jumps(reading.steps, reading.dropped_steps):
            yield {"file": reading.file, **jump._asdict()}


def _far_ahead(splits: Sequence[Reading]) -> Iterator[Note]:
    """Packets that stayed in their places, whose times no order explains."""
    count = sum(each.far_ahead for each in splits)
    before = accumulate((each.numbers for each in splits), initial=0)
    numbers = (start + each.first_far_ahead for start, each in zip(before, splits, strict=False) if each.far_ahead)
    for first in islice(numbers, 1):
        whose = ": its time is" if count == 1 else f" and {count - 1:,} others have times"
        text = f"packet {first}{whose} more than {WINDOW_NS // 10**9} s ahead of neighbouring packets"
        yield Note("odd", 0, first, f"{text}: probably wrong, so latencies that begin or end there are not known")


def _splits(readings: Sequence[Reading]) -> Iterator[dict[str, Any]]:
    file, before = None, 0
    for reading in _in_order(readings):
        if reading.file != file:
            file, before = reading.file, 0
        yield {"split": reading.split, "file": file, "packets_before": before}
        before += reading.numbers


def _note(file: int, note: Note) -> dict[str, Any]:
    return {
        "file": file,
        "packet": note.packet,
        "time_ns": None,
        "offset": note.offset,
        "kind": f"capture_{note.kind}",
        "bytes_lost": note.lost_bytes,
        "detail": note.text,
    }


def _capture(reading: Reading, summary: Summary, duplicates: int) -> dict[str, Any]:
    """The row of one input. A capture point without a name has a number: inputs of the same time have different numbers if a
    connection was seen at several capture points."""
    packets = {f"{word}_packets": count for word, count in zip(OUTCOMES, reading.outcomes, strict=True)}
    return packets | {
        "file": reading.file,
        "path": reading.source.name,
        "tap": reading.tap or str(1 + (reading.capture_point if summary.saw_several_points else 0)),
        "format": reading.format,
        "bytes": reading.bytes,
        "cut": any(note.kind == "cut" for note in reading.notes),
        "link_types": ", ".join(dict.fromkeys(map(link_name, reading.link_types))) or None,
        "packets": sum(reading.outcomes),
        "unread": in_words(reading.unread),
        "duplicate_packets": duplicates,
        "dropped_packets": _dropped(reading),
        "snap_bytes": reading.snap_bytes,
        "first_time_ns": reading.first_time_ns,
        "last_time_ns": reading.last_time_ns,
    }


def _dropped(reading: Reading) -> int | None:
    """Packets that the capturing host dropped, over all interfaces; None where the file does not say, or says what cannot be."""
    dropped = sum(reading.drops.values())
    return dropped if reading.drops and dropped <= MOST_DROPPED else None


def _table(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> pa.Table:
    """The rows, only some thousand of them dictionaries at a time: there may be a million inputs."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in types.items()])
    left = iter(rows)
    batches = []
    while some := list(islice(left, ROWS_AT_ONCE)):
        columns = [pa.array([row[field.name] for row in some], field.type) for field in schema]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    return pa.Table.from_batches(batches, schema)
