"""Feeds give the segments that captures give, in one order of time."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

import pytest
from paths import SAMPLES

from analyzer.inputs.engine import Engine
from analyzer.inputs.live import feeds
from analyzer.inputs.live.feeds import Named, feeds_of
from analyzer.inputs.live.live_engine import LiveEngine
from analyzer.inputs.live.live_source import LiveSource
from analyzer.inputs.sources import InputError, Source
from dissectors import layout

COLUMNS = (layout.SEGMENT_TIME, layout.SEGMENT_SEQ, layout.SEGMENT_CAPTURED)


class Sink:
    """Segments as tuples, payload and all."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []

    def __call__(self, block: memoryview, segments: memoryview, rows: int) -> None:
        for row in range(rows):
            at = segments[layout.SEGMENT_OFFSET, row]
            payload = bytes(block[at : at + max(segments[layout.SEGMENT_CAPTURED, row], 0)])
            self.rows.append((*(segments[column, row] for column in COLUMNS), payload))


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers of tests come at once or not at all."""
    monkeypatch.setattr(feeds, "WRITER_S", 0.5)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "groups.pcap"
    source = Source("groups", SAMPLES / "groups_classic.pcap.zst")
    path.write_bytes(b"".join(source.blocks()))
    return path


def watched(*inputs: str) -> tuple[Sink, LiveEngine]:
    """All that comes until nothing has come for a second, which is longer than anybody is waited for."""
    sink = Sink()
    engine = LiveEngine(feeds_of(inputs, (), None, 1 << 30), sink, lambda *_: None)
    came = monotonic()
    while not engine.ended and monotonic() - came < 1:
        if engine.step():
            came = monotonic()
        else:
            sleep(0.005)
    engine.cut()
    return sink, engine


def reported(*paths: Path) -> Sink:
    sink = Sink()
    Engine(sink).read_all([Source(str(path), path) for path in paths])
    return sink


def test_a_pipe_gives_what_the_file_gives(capture: Path, tmp_path: Path) -> None:
    import threading

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    threading.Thread(target=lambda: fifo.write_bytes(capture.read_bytes()), daemon=True).start()
    sink, engine = watched(str(fifo))
    assert engine.ended
    assert sink.rows == reported(capture).rows
    assert sum(engine.readings[0].outcomes) == sum(Engine(Sink()).read_all([Source("", capture)])[0].outcomes)


def test_a_pipe_is_read_on_when_its_writer_starts_again(capture: Path, tmp_path: Path) -> None:
    """Each writer begins with a head of its own; the other pipe is read meanwhile."""
    import threading

    data = capture.read_bytes()
    cut = _records(data)[700]
    fifo, other = tmp_path / "fifo", tmp_path / "other"
    os.mkfifo(fifo)
    os.mkfifo(other)

    def write() -> None:
        fifo.write_bytes(data[:cut])
        other.write_bytes(data[:24])
        sleep(0.1)
        fifo.write_bytes(data[:24] + data[cut:])

    threading.Thread(target=write, daemon=True).start()
    sink, engine = watched(str(fifo), str(other))
    assert engine.ended
    assert sorted(sink.rows) == sorted(reported(capture).rows)
    assert [Path(reading.source.name).name for reading in engine.readings] == ["fifo", "other", "fifo"]


@pytest.mark.slow
def test_a_ring_gives_what_the_files_give(capture: Path, tmp_path: Path) -> None:
    data = capture.read_bytes()
    cuts = _records(data)
    for number, (begin, end) in enumerate([(24, cuts[100]), (cuts[100], cuts[700]), (cuts[700], len(data))]):
        (tmp_path / f"part_{number}").write_bytes(data[:24] + data[begin:end])
    sink, engine = watched(str(tmp_path))
    assert sink.rows == reported(capture).rows
    assert [reading.file for reading in engine.readings] == [0, 1, 2]


@pytest.mark.slow
def test_feeds_of_the_same_time_are_merged_by_time(capture: Path, tmp_path: Path) -> None:
    data = capture.read_bytes()
    cuts = [24, *_records(data)]
    for name, turn in (("odd", 1), ("even", 0)):
        records = (data[a:b] for number, (a, b) in enumerate(pairwise(cuts)) if number % 2 == turn)
        (tmp_path / name).write_bytes(data[:24] + b"".join(records))
    sink, _ = watched(str(tmp_path / "odd"), str(tmp_path / "even"))
    times = [row[0] for row in sink.rows]
    assert times == sorted(times)
    # Packets of one moment in two files have no order.
    assert sorted(sink.rows) == sorted(reported(capture).rows)


def test_compressed_data_are_refused_in_a_line() -> None:
    path = SAMPLES / "groups_classic.pcap.zst"
    source = LiveSource("packed", Named("", "", feeds_of([str(path)], (), None, 1)[0].feed).feed.following()._stream)
    with pytest.raises(InputError, match="zstd data cannot be followed; unpack it first"):
        next(source.fill(bytearray(100_000)))


@pytest.mark.parametrize(("given", "words"), [("s3://b/k", "does not grow"), ("/no/such", "no such file")])
def test_what_cannot_be_watched_is_said(given: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        feeds_of([given], (), None, 1)


def _records(data: bytes) -> list[int]:
    """Offsets behind each record of a little-endian pcap file."""
    found, at = [], 24
    while at < len(data):
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        found.append(at)
    return found
