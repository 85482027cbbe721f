"""Single messages written by hand: what the vectors do not hold."""

from __future__ import annotations

import struct

import pytest
from walk_helpers import Message, batch, walked

from dissectors import layout
from dissectors.kafka.columns import program
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import explain
from dissectors.matrix import new_matrix


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def compact(value: str) -> bytes:
    return bytes((len(value) + 1,)) + value.encode()


def request_header(key: int, version: int, client: str) -> bytes:
    return struct.pack(">hhi", key, version, 7) + text(client)


CORRELATION = struct.pack(">i", 7)


def heartbeat(client: str = "app-1", group: str = "orders", member: str = "m-1") -> Message:
    body = text(group) + struct.pack(">i", 5) + text(member)
    return Message(12, 0, "request", request_header(12, 0, client) + body)


def test_values_of_a_request() -> None:
    got = walked(Walker(), [heartbeat()])
    assert got.values == [
        {
            layout.VALUE_CLIENT_ID: "app-1",
            layout.VALUE_GROUP_ID: "orders",
            layout.VALUE_GENERATION_ID: 5,
            layout.VALUE_MEMBER_ID: "m-1",
            layout.VALUE_LEFTOVER: 0,
        }
    ]
    assert got.body == [15]


def test_names_that_follow_the_error_code_reach_its_row() -> None:
    """Metadata writes the code before the topic's name and before the partition's number (v1)."""
    partitions = b"".join(
        struct.pack(">hiiii", code, number, -1, 0, 0) for number, code in ((0, 0), (1, 5), (2, 9), (3, 0))
    )
    bad = struct.pack(">h", 3) + text("lost") + b"\0" + struct.pack(">i", 0)
    good = struct.pack(">h", 0) + text("orders") + b"\0" + struct.pack(">i", 4) + partitions
    body = struct.pack(">iii", 0, 1, 2) + bad + good
    got = walked(Walker(), [Message(3, 1, "response", CORRELATION + body)])
    fields = program.error_fields(3, "response")
    rows = [
        (
            fields[row[layout.ERROR_FIELD]].path,
            row[layout.ERROR_CODE],
            row.get(layout.ERROR_TOPIC),
            row.get(layout.ERROR_PARTITION),
        )
        for row in got.errors[0]
    ]
    assert rows == [
        ("topics[].error_code", 3, "lost", None),
        ("topics[].partitions[].error_code", 5, "orders", 1),
        ("topics[].partitions[].error_code", 9, "orders", 2),
    ]
    assert [fields[row[layout.ERROR_FIELD]].level for row in got.errors[0]] == ["topic", "partition", "partition"]
    assert got.values[0][layout.VALUE_ERROR_CODE] == 3
    assert got.values[0][layout.VALUE_ERROR_COUNT] == 3
    assert got.values[0][layout.VALUE_TOPICS] == 2
    assert got.values[0][layout.VALUE_PARTITIONS] == 4


def test_entities_do_not_leak_into_the_next_element() -> None:
    """FindCoordinator v4: the second key is null, so its error has no entity."""
    found = [
        compact("orders") + struct.pack(">i", 1) + compact("host") + struct.pack(">ih", 9092, 15) + b"\0\0",
        b"\0" + struct.pack(">i", -1) + compact("") + struct.pack(">ih", -1, 16) + b"\0\0",
    ]
    frame = CORRELATION + b"\0" + struct.pack(">i", 0) + b"\3" + b"".join(found) + b"\0"
    got = walked(Walker(), [Message(10, 4, "response", frame)])
    assert got.decoded == [layout.DECODED_FULL]
    assert [row.get(layout.ERROR_ENTITY) for row in got.errors[0]] == ["orders", None]


@pytest.mark.parametrize(
    ("key", "version", "messages"), [(37, 1, ["first", "third", None]), (44, 0, [None, "third", None])]
)
def test_a_message_belongs_to_the_code_before_it(key: int, version: int, messages: list[str | None]) -> None:
    """CreatePartitions, and IncrementalAlterConfigs, whose text may repeat a value; the second code is 0, the last text null."""

    def text(value: str | None) -> bytes:
        return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value.encode()

    told: list[tuple[int, str | None]] = [(40, "first"), (0, "second"), (41, "third"), (41, None)]
    elements = [struct.pack(">h", code) + text(said) for code, said in told]
    parts = [text("t") + each for each in elements] if key == 37 else [each + b"\2" + text("t") for each in elements]
    frame = CORRELATION + struct.pack(">ii", 0, len(parts)) + b"".join(parts)
    got = walked(Walker(), [Message(key, version, "response", frame)])
    assert got.decoded == [layout.DECODED_FULL]
    assert [row.get(layout.ERROR_MESSAGE) for row in got.errors[0]] == messages


REFUSAL = CORRELATION + struct.pack(">hihhh", 35, 1, 18, 0, 3)


@pytest.mark.parametrize("version", [1, 3, 4, 5, 60])
def test_a_refused_api_versions_version_is_read_as_version_0(version: int) -> None:
    """KIP-511: the broker that does not know the version answers with error 35 and a body of version 0."""
    got = walked(Walker(), [Message(18, version, "response", REFUSAL)])
    assert got.decoded == [layout.DECODED_FULL]
    assert got.values[0][layout.VALUE_ERROR_CODE] == 35
    assert got.values[0][layout.VALUE_LEFTOVER] == 0
    assert got.body == [4]
    assert len(got.errors[0]) == 1


@pytest.mark.parametrize("version", [3, 4, 5])
def test_an_error_without_apis_is_of_version_0_too(version: int) -> None:
    """As of Kroxylicious to version 5, while its broker is gone: -1, and a plain array of nothing."""
    got = walked(Walker(), [Message(18, version, "response", CORRELATION + struct.pack(">hi", -1, 0))])
    assert got.decoded == [layout.DECODED_FULL]
    assert got.values[0][layout.VALUE_ERROR_CODE] == -1


# What librdkafka's mock cluster answers to version 3: a compact count of 0, then a plain element, a throttle time and tags.
MOCK = CORRELATION + struct.pack(">hb3hb", 35, 1, 18, 0, 2, 0) + bytes(4)


@pytest.mark.parametrize("frame", [MOCK, REFUSAL + b"\0", REFUSAL + b"\0\0\0\7", REFUSAL[:-2]])
@pytest.mark.parametrize("version", [1, 3, 4, 60])
def test_of_a_refusal_that_fits_no_version_the_error_is_certain(frame: bytes, version: int) -> None:
    got = walked(Walker(), [Message(18, version, "response", frame)])
    assert got.decoded == [layout.DECODED_TRAILING]
    got.values[0].pop(layout.VALUE_LEFTOVER, None)
    assert got.values == [{layout.VALUE_ERROR_CODE: 35, layout.VALUE_ERROR_COUNT: 1}]
    assert got.body == [layout.UNKNOWN]  # no facts are read
    assert [row[layout.ERROR_CODE] for row in got.errors[0]] == [35]


def test_a_refusal_that_the_capture_has_cut_is_truncated() -> None:
    got = walked(Walker(), [Message(18, 60, "response", REFUSAL)] * 2, [len(REFUSAL) - 2, 5])
    assert got.decoded == [layout.DECODED_TRUNCATED, layout.DECODED_UNSUPPORTED]
    assert got.values == [{layout.VALUE_ERROR_CODE: 35}, {}]


def test_an_api_versions_answer_that_only_fails_stays_malformed() -> None:
    frame = CORRELATION + struct.pack(">hihhh", 34, 1, 18, 0, 3)
    got = walked(Walker(), [Message(18, 4, "response", frame)])
    assert got.decoded == [layout.DECODED_MALFORMED]
    assert got.errors == [[]]


@pytest.mark.parametrize(("key", "version"), [(12, 63), (12, 64), (127, 0), (128, 0), (30000, 30000)])
def test_what_no_schema_knows_is_unsupported_and_keeps_its_client(key: int, version: int) -> None:
    frames = [
        Message(key, version, "request", request_header(key, version, "app-1") + b"\0\1\2"),
        Message(key, version, "request", request_header(key, version, "app-1")),  # no tagged fields
        Message(key, version, "response", CORRELATION + b"\0\1\2"),
    ]
    got = walked(Walker(), frames)
    assert got.decoded == [layout.DECODED_UNSUPPORTED] * 3
    assert got.values == [{layout.VALUE_CLIENT_ID: "app-1"}, {layout.VALUE_CLIENT_ID: "app-1"}, {}]
    assert got.body == [layout.UNKNOWN] * 3


def test_rows_that_hold_no_message_are_left_alone() -> None:
    plain = heartbeat()
    block, frames = batch([plain] * 4)
    frames[layout.FRAME_EVENT, 0] = layout.FRAME_TOKEN_SEEN
    frames[layout.FRAME_EVENT, 1] = layout.FRAME_REQUEST_ENDED
    frames[layout.FRAME_EVENT, 2] = layout.FRAME_ORPHAN_SEEN
    frames[layout.FRAME_KEY, 2] = layout.UNKNOWN
    frames[layout.FRAME_VERSION, 2] = layout.UNKNOWN
    values = new_matrix(layout.VALUE_COLUMNS, 4)
    Walker().walk(block, b"", frames, 4, values)
    decoded = [frames[layout.FRAME_DECODED, row] for row in range(4)]
    assert decoded == [layout.DECODED_NONE, layout.DECODED_NONE, layout.DECODED_HEADER, layout.DECODED_FULL]
    for row in range(3):
        assert all(values[column, row] == layout.UNKNOWN for column in range(layout.VALUE_COLUMNS))


def test_a_request_with_bytes_left_over_says_what_brokers_read_of_it() -> None:
    plain = heartbeat()
    whole, longer = walked(Walker(), [plain]), walked(Walker(), [plain._replace(frame=plain.frame + b"abc")])
    assert longer.decoded == [layout.DECODED_TRAILING]
    assert longer.values[0] == whole.values[0] | {layout.VALUE_LEFTOVER: 3}
    assert longer.body == whole.body


def test_a_reply_with_bytes_left_over_says_nothing() -> None:
    """FindCoordinator v4 with an error in its only element."""
    element = compact("orders") + struct.pack(">i", 1) + compact("host") + struct.pack(">ih", 9092, 15) + b"\0\0"
    frame = CORRELATION + b"\0" + struct.pack(">i", 7) + b"\2" + element + b"\0"
    replies = [Message(10, 4, "response", frame + more) for more in (b"\7", b"\0\0", b"\0", b"")]
    got = walked(Walker(write_entries=True), replies)
    assert got.decoded == [layout.DECODED_TRAILING] * 3 + [layout.DECODED_FULL]
    assert got.values[:2] == [{layout.VALUE_LEFTOVER: 1}, {layout.VALUE_LEFTOVER: 2}]
    assert got.errors[:2] == [[], []]
    assert got.body == [layout.UNKNOWN, layout.UNKNOWN, 5, 5]
    # Empty tagged fields that were written twice: all but the throttle time.
    doubled, whole = got.values[2:]
    assert whole[layout.VALUE_THROTTLE_MS] == 7 and layout.VALUE_THROTTLE_MS not in doubled
    assert doubled[layout.VALUE_ERROR_CODE] == whole[layout.VALUE_ERROR_CODE] == 15
    assert got.errors[2] == got.errors[3] != []


def test_several_groups_in_one_request_are_no_group() -> None:
    """OffsetFetch v8 asks for many groups: one is the request's group, two are not."""

    def request(groups: list[str]) -> Message:
        inside = b"".join(compact(group) + b"\0\0" for group in groups)
        body = bytes((len(groups) + 1,)) + inside + b"\0\0"
        return Message(9, 8, "request", request_header(9, 8, "app-1") + b"\0" + body)

    got = walked(Walker(), [request(["a"]), request(["a", "b"]), request(["a", "b", "c"]), request([])])
    assert [values.get(layout.VALUE_GROUP_ID) for values in got.values] == ["a", None, None, None]
    assert got.decoded == [layout.DECODED_FULL] * 4


@pytest.mark.parametrize("missing", [0, 4])
def test_a_huge_count_is_refused_at_once(missing: int) -> None:
    """Metadata v1 with 2^31 - 1 topics in a small frame: wrong even if the capture kept only the front of it."""
    frame = request_header(3, 1, "app-1") + struct.pack(">ii", 2147483647, 0)
    got = walked(Walker(), [Message(3, 1, "request", frame)], [len(frame) - missing])
    assert got.decoded == [layout.DECODED_MALFORMED]


def fetch_with_tags(tags: bytes) -> Message:
    """A Fetch v12 that asks for nothing, with a tagged section at its end."""
    fields = struct.pack(">iiiibii", -1, 500, 1, 1, 0, 77, 12) + b"\1\1\1"
    return Message(1, 12, "request", request_header(1, 12, "app-1") + b"\0" + fields + tags)


@pytest.mark.parametrize(
    ("tags", "decoded"),
    [
        (b"\0", layout.DECODED_FULL),
        (b"\1\0\3\3ab", layout.DECODED_FULL),  # tag 0, the cluster id
        (b"\1\0\5\3ab??", layout.DECODED_FULL),  # and what a newer version might append to it
        (b"\1\0\2\3ab", layout.DECODED_MALFORMED),  # it does not fit into its field
        (b"\2\0\3\3ab\x09\2??", layout.DECODED_FULL),  # a tag that nobody knows
        (b"\1\x09\3??", layout.DECODED_MALFORMED),
        (b"\1\xff\xff\xff\xff\x0f\0", layout.DECODED_FULL),  # the largest tag
        (b"\1\xff\xff\xff\xff\x1f\0", layout.DECODED_MALFORMED),  # beyond 32 bits
        (b"\1\x80\x80\x80\x80\x80\0\0", layout.DECODED_MALFORMED),
        (b"\xff\xff\xff\xff\x0f", layout.DECODED_MALFORMED),
    ],
)
def test_tagged_fields_as_in_the_interpreter(tags: bytes, decoded: int) -> None:
    message = fetch_with_tags(tags)
    got = walked(Walker(), [message])
    assert got.decoded == [decoded]
    found = explain(message.key, message.version, message.direction, message.frame)
    assert (found.error is None) == (decoded == layout.DECODED_FULL)
    if found.error is None:
        assert got.values[0][layout.VALUE_LEFTOVER] == found.leftover_bytes == 0


def test_secrets_are_never_interned() -> None:
    """The token of SaslAuthenticate does not outlive its frame."""
    secret = b"\0alice\0alice-secret"
    body = struct.pack(">i", len(secret)) + secret
    walker = Walker(write_entries=True)
    got = walked(walker, [Message(36, 0, "request", request_header(36, 0, "app-1") + body)])
    assert got.decoded == [layout.DECODED_FULL]
    assert walker.texts() == [b"", b"app-1"]


def test_strings_are_interned_once_and_forgotten_on_request() -> None:
    walker = Walker(most_strings=5000)
    several = [heartbeat(f"client-{number % 2500}", "g" * 100, "é" * 20) for number in range(5000)]
    got = walked(walker, several)
    assert [values[layout.VALUE_CLIENT_ID] for values in got.values[:3]] == ["client-0", "client-1", "client-2"]
    assert got.values[0] == got.values[2500]
    assert len(walker.texts()) == len(set(walker.texts())) == 2503
    assert not walker.strings_full()
    walked(walker, [heartbeat(f"other-{number}") for number in range(3000)])
    assert walker.strings_full()
    walker.clear_strings()
    assert not walker.strings_full()
    assert walker.texts() == [b""]
    kept = walker.strings.number(b"client-9")
    assert walked(walker, several[:10]).values == got.values[:10]
    assert len(walker.texts()) == 13
    assert walker.texts()[kept] == b"client-9"
    assert walker.keys == {12}


def test_a_frame_outside_its_buffer_is_the_callers_mistake() -> None:
    block, frames = batch([heartbeat()])
    frames[layout.FRAME_OFFSET, 0] = len(block)
    with pytest.raises(ValueError, match="outside its buffer"):
        Walker().walk(block, b"", frames, 1, new_matrix(layout.VALUE_COLUMNS, 1))
