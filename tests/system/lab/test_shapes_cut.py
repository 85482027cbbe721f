"""Captures that somebody else cut: by a snap length, begun late, stopped early; each by a tcpdump of its own beside that of the
whole run, so that times differ by some microseconds."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import cramjam
import cuts
import pytest
from agreement import frame_row
from cuts import REPLY_HEAD, REQUEST_HEAD
from oracle import FrameRow, read_frames
from paths import LAB
from program import Analyse, Row

pytestmark = pytest.mark.skipif(
    not (LAB / "shape_full.pcap.zst").exists(), reason="no lab captures beside the checkout"
)

SLACK_NS = 100_000  # the captures' clocks
Name = tuple[str, int, int, int, int]


def name_of(row: FrameRow) -> Name:
    return row.connection, row.correlation_id, row.api_key, row.api_version, row.request_bytes


def capture_file(name: str) -> Path:
    return next(path for path in sorted(LAB.glob(f"{name}.pcap*")) if path.suffix != ".gz")


def asked(rows: Sequence[Row]) -> list[FrameRow]:
    return [frame_row(row) for row in rows if row["request_time_ns"] is not None]


def near(ours: FrameRow, theirs: FrameRow) -> bool:
    """The same exchange: all times that ours has lie within the slack. What ours lacks is told by the caller."""
    pairs = (
        (ours.request_first_ns, theirs.request_first_ns),
        (ours.request_last_ns, theirs.request_last_ns),
        (ours.response_first_ns, theirs.response_first_ns),
        (ours.response_last_ns, theirs.response_last_ns),
    )
    if ours.response_bytes not in (None, theirs.response_bytes):
        return False
    return all(one is None or (two is not None and abs(one - two) <= SLACK_NS) for one, two in pairs)


def paired(ours: Sequence[FrameRow], theirs: Sequence[FrameRow]) -> dict[FrameRow, FrameRow]:
    """Row of the list -> our row. Every one of ours must be in the list."""
    known: dict[Name, list[FrameRow]] = defaultdict(list)
    for row in theirs:
        known[name_of(row)].append(row)
    found = {}
    for row in ours:
        other = next((other for other in known[name_of(row)] if near(row, other) and other not in found), None)
        assert other is not None, f"invented: {row}"
        found[other] = row
    return found


@pytest.mark.parametrize("snaplen", [96, 128, 256])
def test_snap_length(snaplen: int, analyse: Analyse) -> None:
    """Messages whose length and first header bytes were captured, in a packet that begins with them or behind others like
    that; nothing else. Which those are is read from the packets of this very file."""
    file = capture_file(f"shape_snap{snaplen}")
    analysis = analyse([file])
    rows = read_frames(LAB / "shape_full.exchanges.tsv.zst")
    places = cuts.places(cuts.read(capture_file("shape_full")), rows)
    carriers = cuts.carriers(cuts.read(file))
    met = cuts.met(((request, REQUEST_HEAD) for _, request, _ in places), carriers)
    told = cuts.met(((reply, REPLY_HEAD) for _, _, reply in places if reply), carriers)
    found = paired(asked(analysis.exchanges), rows)
    assert {row for row, request, _ in places if request in met} == set(found)
    answered = {row for row, request, reply in places if request in met and reply in told}
    assert answered == {row for row, ours in found.items() if ours.response_bytes is not None}
    assert all(ours.request_last_ns is not None for ours in found.values())
    assert all(ours.response_last_ns is not None for row, ours in found.items() if row in answered)


@pytest.mark.parametrize("name", ["shape_late", "shape_early"])
def test_begun_late_or_stopped_early(name: str, analyse: Analyse) -> None:
    """Exactly the exchanges that the list calls inside, the requests of `request_only`, the replies of `response_only`."""
    listed = LAB / f"{name}.exchanges.tsv.zst"
    rows = read_frames(listed)
    cells = csv.DictReader(io.StringIO(bytes(cramjam.zstd.decompress(listed.read_bytes())).decode()), delimiter="\t")
    states = dict(zip(rows, (row["state"] for row in cells), strict=True))
    exchanges = analyse([capture_file(name)]).exchanges
    found = paired(asked(exchanges), rows)
    for row, ours in found.items():
        assert states[row] == (
            "inside" if ours.response_bytes is not None or row.response_bytes is None else "request_only"
        )
    assert Counter(states[row] for row in found) == Counter(
        state for state in states.values() if state in ("inside", "request_only")
    )
    alone = Counter(row["correlation_id"] for row in exchanges if row["request_time_ns"] is None)
    assert alone == Counter(row.correlation_id for row, state in states.items() if state == "response_only")


@pytest.mark.parametrize("name", ["routed_client", "routed_broker", "congested", "errors"])
def test_bytes_that_had_to_wait(name: str, analyse: Analyse) -> None:
    """Real loss: every message of the list, and none besides. A byte's time is that of the packet that brought it. The list's
    counter reads streams in order: bytes behind a hole have the time of the packet that filled it. So the times are the same
    wherever nothing waited, and elsewhere each is what its own rule says, worked out here from the packets."""
    rows = read_frames(LAB / f"{name}.exchanges.tsv.zst")
    exchanges = [row for row in analyse([capture_file(name)]).exchanges if row["kind"] != "sasl_token"]
    assert all(row["request_time_ns"] is not None for row in exchanges)
    ours = Counter(asked(exchanges))
    missing, besides = list((Counter(rows) - ours).elements()), list((ours - Counter(rows)).elements())
    assert Counter(map(without_times, missing)) == Counter(map(without_times, besides))
    if not missing:
        return
    packets = cuts.read(capture_file(name))
    carriers = cuts.carriers(packets)
    readings = {row: readings_of(request, reply, carriers) for row, request, reply in cuts.places(packets, rows)}
    for row in missing:
        came, released = readings[row]
        assert times(row) == released != came
        assert any(times(other) == came and without_times(other) == without_times(row) for other in besides)


Times = tuple[int | None, ...]


def times(row: FrameRow) -> Times:
    return row.request_first_ns, row.request_last_ns, row.response_first_ns, row.response_last_ns


def without_times(row: FrameRow) -> tuple[object, ...]:
    return (*name_of(row), row.response_bytes)


def readings_of(request: cuts.Place, reply: cuts.Place | None, carriers: cuts.Carriers) -> tuple[Times, Times]:
    """First and last time of both messages: by the packets that brought the bytes, and by when the stream was whole so far.

    A message has come when the last of its bytes to come has, unless that is its final byte to within a millisecond.
    """
    came: list[int | None] = []
    released: list[int | None] = []
    for place in (request, reply):
        if place is None:
            came += [None, None]
            released += [None, None]
            continue
        stop = place.start + place.size
        mine = [p for p in cuts.pieces(carriers[place.way]) if p.start < stop and place.start < p.stop]
        final, latest = mine[-1].came_ns, max(piece.came_ns for piece in mine)
        came += [mine[0].came_ns, latest if latest - final >= 1_000_000 else final]
        released += [mine[0].released_ns, mine[-1].released_ns]
    return tuple(came), tuple(released)
