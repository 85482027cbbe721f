"""Positions of a stream: what is written goes into every packet that holds it, also into one that comes later."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from analyzer.redact.counts import Counts
from analyzer.redact.packet_spool import Places, Spool, Spooled
from analyzer.redact.streams import Streams
from dissectors import layout
from dissectors.matrix import new_matrix

SEQ = 0xFFFFFFF0  # numbers go on at 0 soon


def test_a_later_copy_takes_over_what_was_written(tmp_path: Path) -> None:
    spool, places = Spool(tmp_path / "spool"), Places(tmp_path / "places")
    places.begin()
    sizes = ((0, 20), (20, 10), (10, 15), (40, 5))
    at = []
    for number, (_, size) in enumerate(sizes, 1):
        place = spool.add(Spooled(0, 0, 0, size, -1, -1, 0, 0, 0, bytearray(size)))
        places.set(number, place)
        at.append(place)
    spool.complete()
    streams = Streams(spool, places, Counts())
    rows = new_matrix(layout.SEGMENT_COLUMNS, 4)

    def add(*numbers: int) -> None:
        for row, number in enumerate(numbers):
            begin, size = sizes[number - 1]
            rows[layout.SEGMENT_NUMBER, row] = number
            rows[layout.SEGMENT_SEQ, row] = (SEQ + begin) % (1 << 32)
            rows[layout.SEGMENT_CAPTURED, row] = size
        streams.add(rows, len(numbers))

    add(1, 2)
    direction = streams.of_packet(1)
    assert direction is not None and streams.of_packet(2) is direction
    text = bytes(range(1, 31))
    streams.write(direction, direction.position(SEQ), text)
    add(3, 4)
    assert spool.read(at[0], 20) + spool.read(at[1], 10) == text
    assert spool.read(at[2], 15) == text[10:25] and spool.read(at[3], 5) == bytes(5)
    # And what is written after the copy came goes there too.
    streams.write(direction, direction.position(SEQ) + 12, b"new")
    assert spool.read(at[2], 15) == text[10:12] + b"new" + text[15:25]
    spool.close()
    places.close()


def test_attempts_that_nobody_answers_take_no_memory_each(tmp_path: Path) -> None:
    """A flood of SYNs; one of the last of them sends a byte, which stands where its connection begins."""
    spool, places = Spool(tmp_path / "spool"), Places(tmp_path / "places")
    places.begin()
    streams = Streams(spool, places, Counts())
    rows = new_matrix(layout.SEGMENT_COLUMNS, 1)
    rows[layout.SEGMENT_FLAGS, 0] = layout.TCP_SYN
    rows[layout.SEGMENT_SEQ, 0] = SEQ

    def attempts(first: int, count: int) -> None:
        for client in range(first, first + count):
            rows[layout.SEGMENT_SRC_LOW, 0] = client
            streams.add(rows, 1)

    tracemalloc.start()
    attempts(0, 100_000)
    some, _ = tracemalloc.get_traced_memory()
    attempts(100_000, 50_000)
    more, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert more - some < 1_000_000
    places.set(1, spool.add(Spooled(0, 0, 0, 5, -1, -1, 0, 0, 0, bytearray(5))))
    spool.complete()
    rows[layout.SEGMENT_FLAGS, 0], rows[layout.SEGMENT_SEQ, 0] = 0, SEQ + 1
    rows[layout.SEGMENT_NUMBER, 0], rows[layout.SEGMENT_CAPTURED, 0] = 1, 5
    streams.add(rows, 1)
    direction = streams.of_packet(1)
    assert direction is not None and direction.begins
    spool.close()
    places.close()
