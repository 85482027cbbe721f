"""Who was silent on a TLS connection, and when the other side had asked: told of times alone."""

from __future__ import annotations

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tls.detection import TlsRows

SECOND = 1_000_000_000
ALERT_RECORD = bytes((21, 3, 3, 0, 2, 1, 0))
CLIENT, BROKER = 0, 1


def silences(sent: list[tuple[int, float]], batch: int, notes: bool = True) -> list[tuple[float | None, ...]]:
    """(side, begin, end, asked, packet) of each row, times in s, of packets of (side, time in s) of one TLS connection."""
    stage = TlsRows(notes)
    block = memoryview(ALERT_RECORD)
    rows = [(layout.CHUNK_OPEN, 0, 1.0)]
    rows += [(layout.CHUNK_DATA, side, time) for side, time in sent]
    rows += [(layout.CHUNK_CLOSE, 0, sent[-1][1])]
    found: list[tuple[float | None, ...]] = []
    for at in range(0, len(rows), batch):
        part = rows[at : at + batch]
        chunks = new_matrix(layout.CHUNK_COLUMNS, len(part) + 1)
        for number, (kind, side, time) in enumerate(part):
            for column in range(layout.CHUNK_COLUMNS):
                chunks[column, number] = 0
            chunks[layout.CHUNK_KIND, number] = kind
            chunks[layout.CHUNK_SIDE, number] = side
            chunks[layout.CHUNK_TIME, number] = round(time * SECOND)
            chunks[layout.CHUNK_NUMBER, number] = at + number
            chunks[layout.CHUNK_LENGTH, number] = len(block) if kind == layout.CHUNK_DATA else 0
            chunks[layout.CHUNK_DETAIL, number] = 7 if kind == layout.CHUNK_OPEN else 0
            chunks[layout.CHUNK_OFFSET, number] = 1 if kind == layout.CHUNK_OPEN else 0
        stage.separate(block, bytearray(), chunks, len(part), 1)
        matrix, count = stage.take_silences()
        for row in range(count):
            assert matrix[layout.SILENCE_PART, row] == 7
            times = (matrix[column, row] for column in (layout.SILENCE_BEGIN, layout.SILENCE_END, layout.SILENCE_ASKED))
            told = [None if time == layout.UNKNOWN else time / SECOND for time in times]
            number = matrix[layout.SILENCE_ASKED_NUMBER, row]
            found.append((matrix[layout.SILENCE_SIDE, row], *told, None if number == layout.UNKNOWN else number))
    return found


def test_a_silence_is_told_with_the_first_that_was_asked_in_it() -> None:
    sent = [(CLIENT, 1), (BROKER, 1.1), (CLIENT, 1.2), (CLIENT, 1.5), (BROKER, 4.0), (CLIENT, 4.1), (BROKER, 4.7)]
    broker = (BROKER, 1.1, 4.0, 1.2, 3)
    client = (CLIENT, 1.5, 4.1, 4.0, 5)
    last = [(CLIENT, 4.1, None, 4.7, 7), (BROKER, 4.7, None, None, None)]
    for batch in (1, 2, 3, len(sent) + 2):
        assert silences(sent, batch) == [broker, client, *last]
    assert silences(sent, 3, notes=False) == []


def test_short_waits_leave_nothing_and_an_unanswered_request_is_told_at_the_end() -> None:
    sent = [(side, 1 + n * 0.79 / 2) for n, side in enumerate((CLIENT, BROKER) * 5)]
    asked = (CLIENT, sent[-1][1] + 9)
    assert silences([*sent, asked], 4) == [
        (CLIENT, sent[-2][1], asked[1], sent[-1][1], 10),
        (CLIENT, asked[1], None, None, None),
        (BROKER, sent[-1][1], None, asked[1], 11),
    ]


def test_many_rows_are_kept_until_they_are_taken() -> None:
    sent = [(BROKER if n % 2 else CLIENT, 1.0 + n) for n in range(400)]
    rows = silences(sent, len(sent) + 2)
    assert len(rows) == 400
    assert [row[1] for row in rows[:-2]] == [time for _, time in sent[:-2]]
