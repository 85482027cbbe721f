"""Which rows leave a batch, that none is lost, and in which order they go on; as compiled and as plain Python."""

from __future__ import annotations

from types import ModuleType

import pytest
from opening_bytes import FOR, SOCKS_5, TARGET, version_1, version_2
from plain_stages import plain_stage

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.openings import opening_rows
from dissectors.openings.openings import Openings

OPEN, DATA, GAP, END, CLOSE, OPENING = (
    layout.CHUNK_OPEN,
    layout.CHUNK_DATA,
    layout.CHUNK_GAP,
    layout.CHUNK_END,
    layout.CHUNK_CLOSE,
    layout.CHUNK_OPENING,
)
HEADER = version_1(FOR, TARGET)
KAFKA = b"\0\0\0\x0e\0\x10\0\0\0\0\0\x01\0\x04test"
Event = tuple[int, int, bytes]  # kind, side, bytes


@pytest.fixture(params=["built", "plain"])
def stage(request: pytest.FixtureRequest) -> ModuleType:
    return opening_rows if request.param == "built" else plain_stage("dissectors.openings.opening_rows")


def run(stage: ModuleType, batches: list[list[Event]], syn: bool = True) -> list[tuple[int, int, bytes, int]]:
    """Rows of slot 3 as they leave both stages: kind, side, bytes, and sequence number (of an OPENING row its length)."""
    rows = stage.OpeningRows()
    openings = Openings(rows)
    found: list[tuple[int, int, bytes, int]] = []
    seqs, part = [1000, 5000], 0

    def collect(block: bytes, chunks: memoryview, count: int) -> None:
        for row in range(count):
            kind, begin, length = (chunks[column, row] for column in (0, layout.CHUNK_OFFSET, layout.CHUNK_LENGTH))
            data = block[begin : begin + length] if kind == DATA else b""
            last = length if kind == OPENING else chunks[layout.CHUNK_SEQ, row]
            found.append((kind, chunks[layout.CHUNK_SIDE, row], data, last))

    for events in batches:
        block = bytearray()
        chunks = new_matrix(layout.CHUNK_COLUMNS, len(events))
        for row, (kind, side, data) in enumerate(events):
            part += kind == OPEN
            offset = int(syn) if kind == OPEN else len(block)
            detail = {OPEN: part, GAP: layout.GAP_CUT}.get(kind, 0)
            values = [kind, 3, side, 0, offset, len(data), 0, row, seqs[side], detail]
            for column, value in enumerate(values):
                chunks[column, row] = value
            block += data
            seqs[side] += len(data)
        kept, taken = rows.separate(memoryview(block), bytearray(), chunks, len(events), 4)
        collect(bytes(block), chunks, kept)
        if taken:
            handed, count = openings.feed(taken, memoryview(block), bytearray())
            collect(bytes(openings.heap), handed, count)
    return found


def content(found: list[tuple[int, int, bytes, int]], side: int) -> bytes:
    return b"".join(data for kind, who, data, _ in found if kind == DATA and who == side)


def test_kafka_stays_where_it_is(stage: ModuleType) -> None:
    events = [(OPEN, 0, b""), (DATA, 0, KAFKA), (DATA, 1, b"reply"), (CLOSE, 0, b"")]
    found = run(stage, [events])
    assert [(kind, side, data) for kind, side, data, _ in found] == events
    assert found[1][3] == 1000 and found[2][3] == 5000


@pytest.mark.parametrize("size", [1, 2, 7, 45, 50, 200])
@pytest.mark.parametrize("apart", [False, True])
def test_a_header_leaves_as_one_row(stage: ModuleType, size: int, apart: bool) -> None:
    """In pieces of any size, each in a batch of its own or all in one."""
    stream = HEADER + KAFKA
    pieces = [(DATA, 0, stream[at : at + size]) for at in range(0, len(stream), size)]
    events = [(OPEN, 0, b""), *pieces, (DATA, 1, b"reply"), (END, 0, b""), (CLOSE, 0, b"")]
    found = run(stage, [[event] for event in events] if apart else [events])
    kinds = [kind for kind, _, _, _ in found]
    assert kinds[:2] == [OPEN, OPENING] and kinds[-3:] == [DATA, END, CLOSE]
    assert found[1][1:] == (0, b"", len(HEADER))
    assert content(found, 0) == KAFKA and content(found, 1) == b"reply"
    assert found[2][3] == 1000 + len(HEADER)


@pytest.mark.parametrize(("kept", "told"), [(HEADER[:30], 30), (version_2(FOR, TARGET)[:14], 14), (HEADER[:9], None)])
def test_the_beginning_of_a_header_is_one_where_its_packet_was_cut(
    stage: ModuleType, kept: bytes, told: int | None
) -> None:
    """As tcpdump -s 96 keeps it; what is missing stays missing, and `PROXY TC` may be anything."""
    events = [(OPEN, 0, b""), (DATA, 0, kept), (GAP, 0, b""), (DATA, 0, KAFKA), (CLOSE, 0, b"")]
    found = run(stage, [[event] for event in events])
    assert [kind for kind, *_ in found] == [OPEN, OPENING if told else DATA, GAP, DATA, CLOSE]
    assert found[1][3] == (told or 1000)


@pytest.mark.parametrize("after", range(1, 5))
@pytest.mark.parametrize("event", [(GAP, 0, b""), (END, 1, b""), (CLOSE, 0, b"")])
def test_what_breaks_off_is_handed_on_unchanged(stage: ModuleType, after: int, event: Event) -> None:
    said = [(DATA, side, data) for side, data in SOCKS_5[: min(after, 3)]]
    events = [(OPEN, 0, b""), *said, event]
    for batches in ([events], [[each] for each in events]):
        assert [(kind, side, data) for kind, side, data, _ in run(stage, batches)] == events


def test_the_next_connection_of_a_slot_stays_behind(stage: ModuleType) -> None:
    """In one batch: an opening that never ends, and a connection of Kafka in the same slot."""
    events = [(OPEN, 0, b""), (DATA, 0, HEADER[:9]), (CLOSE, 0, b""), (OPEN, 0, b""), (DATA, 0, KAFKA), (CLOSE, 0, b"")]
    found = run(stage, [events, [(OPEN, 0, b""), (DATA, 0, HEADER + KAFKA), (CLOSE, 0, b"")]])
    assert [(kind, side, data) for kind, side, data, _ in found[:6]] == events
    assert [kind for kind, *_ in found[6:]] == [OPEN, OPENING, DATA, CLOSE]


@pytest.mark.parametrize("side", [0, 1])
def test_without_a_syn_either_side_may_be_behind_a_proxy(stage: ModuleType, side: int) -> None:
    found = run(stage, [[(OPEN, 0, b""), (DATA, side, HEADER), (DATA, side, KAFKA)]], syn=False)
    assert [(kind, who) for kind, who, _, _ in found] == [(OPEN, 0), (OPENING, side), (DATA, side)]
    assert (content(found, side), found[1][3]) == (KAFKA, len(HEADER))


def test_without_a_syn_nothing_else_is_looked_at(stage: ModuleType) -> None:
    """The same bytes may stand anywhere in a stream."""
    for said in (
        [(side, data) for side, data in SOCKS_5],
        [(0, b"CONNECT a:1 HTTP/1.1\r\n\r\n")],
        [(0, KAFKA), (0, HEADER)],
    ):
        events = [(OPEN, 0, b""), *((DATA, side, data) for side, data in said)]
        assert [(kind, side, data) for kind, side, data, _ in run(stage, [events], syn=False)] == events


def test_too_much_is_given_up(stage: ModuleType) -> None:
    """A header of CONNECT that never ends: what waits is bounded, and comes out whole."""
    line = b"CONNECT a:1 HTTP/1.1\r\n"
    pieces = [line, *[b"X-More: " + b"x" * 990 + b"\r\n"] * 100]
    found = run(stage, [[(OPEN, 0, b"")], *([(DATA, 0, piece)] for piece in pieces)])
    assert content(found, 0) == b"".join(pieces)
