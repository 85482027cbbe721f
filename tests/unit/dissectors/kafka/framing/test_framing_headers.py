"""What looks like the header of a request where no boundary is known."""

from __future__ import annotations

import struct

import pytest
from chunk_rows import (
    API_VERSIONS,
    CONTROLLED_SHUTDOWN,
    FETCH,
    METADATA,
    NEWEST,
    PRODUCE,
    Conversation,
    framed,
    produce,
    request,
    text,
)


def is_believed(data: bytes, before: bytes = b"") -> bool:
    """Is `data` taken for a request in a connection whose start was not captured? `before` comes in the same chunk."""
    return Conversation(syn=False).c(before + data).run().story()[:1] == [("request", 7)]


@pytest.mark.parametrize("key", sorted(NEWEST))
def test_any_known_api(key: int) -> None:
    version = 1
    body = b"" if key != PRODUCE else struct.pack(">hiih", 1, 30_000, 1, 1) + b"t" + bytes(4)
    assert is_believed(request(7, key, version, body))


def test_versions_up_to_three_above_the_newest() -> None:
    for above, believed in ((0, True), (3, True), (4, False)):
        assert is_believed(request(7, METADATA, NEWEST[METADATA] + above)) == believed


@pytest.mark.parametrize(
    "wrong",
    [
        request(7, key=6),  # none of the tables of these tests
        request(7, key=-1),
        request(7, version=-1),
        request(-2),
        request(7, client=b"a\x1fb"),  # a control character
        request(7, client=b"x" * 1025),
        framed(struct.pack(">hhih", METADATA, 1, 7, 50) + b"short"),  # a client id beyond the end of the frame
        struct.pack(">i", 1 << 28) + request(7)[4:],  # more than 128 MiB
        request(7)[:13],
    ],
)
def test_what_no_client_sends(wrong: bytes) -> None:
    assert not is_believed(wrong)


def test_a_client_id_may_be_null_or_empty_at_the_start_of_a_chunk() -> None:
    assert is_believed(request(7, client=None))
    assert is_believed(request(7, client=b""))


def test_inside_a_chunk_a_client_id_must_not_be_empty() -> None:
    """Bodies are full of zeros."""
    assert is_believed(request(7), before=b"zzz")
    assert not is_believed(request(7, client=b""), before=b"zzz")


def test_a_flexible_header_ends_in_an_empty_section_of_tagged_fields() -> None:
    right = request(7, METADATA, 9)
    assert is_believed(right)
    assert right[17:18] == b"\0"
    assert not is_believed(right[:17] + b"\x01" + right[18:])


def test_controlled_shutdown_v0_has_no_client_id() -> None:
    assert is_believed(framed(struct.pack(">hhii", CONTROLLED_SHUTDOWN, 0, 7, 1)))
    assert not is_believed(framed(struct.pack(">hhii", CONTROLLED_SHUTDOWN, 0, 7, 1) + b"\0"))


def test_a_header_must_follow_the_frame_if_it_is_there() -> None:
    assert is_believed(request(7) + request(8, FETCH))
    assert not is_believed(request(7) + b"z" * 20)


@pytest.mark.parametrize("version", [1, 2, 3, 9])
@pytest.mark.parametrize(
    ("acks", "timeout_ms", "believed"),
    [
        (1, 30_000, True),
        (-1, 1, True),
        (0, 3_600_000, True),
        (2, 30_000, False),
        (-2, 30_000, False),
        (1, 0, False),
        (1, 3_600_001, False),
    ],
)
def test_a_produce_request_must_make_sense(version: int, acks: int, timeout_ms: int, believed: bool) -> None:
    one = produce(7, acks, version, timeout_ms)
    out = Conversation(syn=False).c(one).run()
    assert ([frame.correlation for frame in out.frames if frame.event == "request"] == [7]) == believed


def test_a_produce_request_has_topics() -> None:
    none = request(7, PRODUCE, 2, struct.pack(">hii", 1, 30_000, 0))
    assert not is_believed(none)


def test_replies_with_small_correlation_ids_are_no_produce_requests() -> None:
    """Length, then an id of 1, 2, 3: key 0 and that version. Here the reply to ApiVersions v0 for Produce and Fetch."""
    keys = struct.pack(">hihhhhhh", 0, 2, 0, 0, 9, 1, 0, 13)
    assert not is_believed(framed(struct.pack(">i", 2) + keys))
    assert is_believed(request(7, API_VERSIONS, 0, b""))


def fetch_reply(correlation: int, records: int = 200) -> bytes:
    """A reply to Fetch v4: throttle time, one topic, one partition without an error, records."""
    partition = struct.pack(">ihqqi", 0, 0, 5000, 5000, -1)
    topic = struct.pack(">i", 1) + text(b"t") + struct.pack(">i", 1) + partition + struct.pack(">i", records)
    return framed(struct.pack(">ii", correlation, 0) + topic + b"z" * records)


@pytest.mark.parametrize("correlation", range(1, 14))
@pytest.mark.parametrize("body", [bytes(10), bytes(26), b"\0\0\0\0\0\0\0\1\0\0\x75\x30\0\2"])
def test_zeros_of_a_reply_are_no_header(correlation: int, body: bytes) -> None:
    """Its id is read as key 0 and a version; the zeros that follow as correlation id 0 and an empty client id."""
    for one in (framed(struct.pack(">ii", correlation, 0) + body), fetch_reply(correlation)):
        frames = Conversation(syn=False).b(one, one).run().frames
        assert [frame.event for frame in frames] in ([], ["orphan", "orphan"])


@pytest.mark.parametrize("name", [b"t", b"orders.v1_eu-west", b"x" * 249])
@pytest.mark.parametrize("version", [2, 3, 9])
def test_a_produce_request_names_its_topic(version: int, name: bytes) -> None:
    """Letters, digits, `.`, `_` and `-` are all that brokers accept (Topic.validate of the clients)."""
    assert is_believed(produce(7, 1, version, name=name))
    for wrong in (b"\0", b"\xff", b" ", b"/"):
        assert not is_believed(produce(7, 1, version, name=name[:-1] + wrong))
