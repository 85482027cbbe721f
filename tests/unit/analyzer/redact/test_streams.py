"""Positions of a stream: what is written goes into every packet that holds it, also into one that comes later."""

from __future__ import annotations

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
