"""Laws over random messages of every API, version and direction: what is written reads back; what is cut or damaged is
told, and costs no more than its bytes."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import damage
import implied_columns
import pytest
import random_messages
import walk_helpers as helpers
from effort import one_in
from encode import encode, nodes, plain
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_reference import table
from random_messages import Kind, Sample
from walk_helpers import Message

from dissectors import layout
from dissectors.errors import Truncated
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import Explained, explain
from dissectors.kafka.schema import lookup
from dissectors.matrix import new_matrix

KINDS = random_messages.kinds()
# Cut at every byte up to this size, else at every seventh; without KANALYZE_LONG at one in three of these, and one length in six
# is made wrong. Which one depends on the message, so that all together are cut everywhere.
SMALL_BYTES = 400
CUT_STEP = one_in(3)
LENGTH_STEP = one_in(6)
SEEDS = range(4 // one_in(2))


def message(sample: Sample, frame: bytes | None = None) -> Message:
    return Message(*sample.kind, sample.frame if frame is None else frame)


def assert_reads_back(sample: Sample) -> Explained:
    """Encode -> decode gives what was encoded, decode -> encode the same bytes."""
    found = explain(*sample.kind, sample.frame)
    assert found.error is None, (sample, found.error)
    assert found.leftover_bytes == 0, sample
    header, body = plain(found.header), plain(found.body)
    assert body == sample.body, sample
    assert {name: header[name] for name in sample.header} == sample.header, sample
    assert encode(*sample.kind, header, body) == sample.frame, sample
    assert bool(found.notes) == bool(sample.odd_nulls), (sample, found.notes)
    return found


# It knows all programs after the first sweep.
WALKER = Walker(write_entries=True)


def assert_walker_agrees(samples: list[Sample]) -> None:
    got = helpers.walked(WALKER, [message(sample) for sample in samples])
    for row, sample in enumerate(samples):
        assert got.decoded[row] == layout.DECODED_FULL, sample
        want = helpers.projected(message(sample))
        assert (got.values[row], got.entries[row], got.errors[row]) == want, sample


def test_there_are_as_many_messages_as_kafka_has() -> None:
    known = [(int(row["key"]), int(row["version"])) for row in table("header_versions")]
    assert sorted((kind.key, kind.version) for kind in KINDS) == sorted(2 * known)


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_every_message_reads_back(full: bool) -> None:
    for seed in SEEDS:
        samples = list(random_messages.one_of_each(seed, full))
        assert [sample.kind for sample in samples] == KINDS
        for sample in samples:
            assert_reads_back(sample)
        assert_walker_agrees(samples)


def test_full_messages_have_every_field() -> None:
    """Else the sweep would prove less than it says."""

    def below(fields: tuple[lookup.Field, ...], version: int) -> Iterator[int]:
        for field in fields:
            if version in field.versions:
                yield field.number
                yield from below(field.fields, version)

    for sample in random_messages.one_of_each(0, full=True):
        api = lookup.api(sample.kind.key)
        assert api is not None
        found = explain(*sample.kind, sample.frame)
        assert found.body is not None
        met = {node.field.number for node in nodes(found.body) if node.field is not None and node.end > node.start}
        assert met == set(below(api.message(sample.kind.direction).fields, sample.kind.version)), sample


@pytest.mark.slow
def test_null_where_it_is_not_provided_for_reads_back_and_is_noted() -> None:
    odd = 0
    for seed in SEEDS:
        samples = list(random_messages.one_of_each(seed, odd_nulls=True))
        odd += sum(sample.odd_nulls for sample in samples)
        for sample in samples:
            assert_reads_back(sample)
        assert_walker_agrees(samples)
    assert odd > 125 * len(SEEDS)


@pytest.mark.slow
@settings(deadline=None, max_examples=300 // one_in(3))
@given(st.sampled_from(KINDS), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_any_message_reads_back(kind: Kind, chance: Random, full: bool, odd_nulls: bool) -> None:
    sample = random_messages.sample(kind, chance, full, odd_nulls)
    assert_reads_back(sample)
    assert_walker_agrees([sample])


# ---- cut ----


def cuts(sample: Sample) -> range:
    size, which = len(sample.frame), sum(sample.kind[:2])
    step = CUT_STEP if size <= SMALL_BYTES else 7 * CUT_STEP
    return range(which % step, size, step)


def decoded(messages: list[Message], held: list[int] | None = None) -> list[int]:
    """The walker's verdicts alone."""
    block, frames = helpers.batch(messages, held)
    values = new_matrix(layout.VALUE_COLUMNS, max(1, len(messages)))
    WALKER.walk(block, b"", frames, len(messages), values)
    return [frames[layout.FRAME_DECODED, row] for row in range(len(messages))]


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_a_cut_message_says_where_it_ends(full: bool) -> None:
    """The path is that of something the missing byte belongs to; the offset lies within it, before that byte."""
    checked = 0
    for sample in random_messages.one_of_each(1, full):
        found = explain(*sample.kind, sample.frame)
        covering = damage.places(found, len(sample.frame))
        assert found.body is not None
        # A tagged field is short before it is looked into, which is told of the struct around it: here the message.
        tagged = {name for name, node in found.body.fields.items() if node.field.tag is not None}
        for cut in cuts(sample):
            error = explain(*sample.kind, sample.frame[:cut]).error
            assert isinstance(error, Truncated), (sample, cut)
            around = covering[cut]
            at_top = error.path == "" and (not around or set(around) & tagged)
            assert error.path in around or at_top, (sample, cut, error)
            assert around.get(error.path, 0) <= error.offset <= cut, (sample, cut, error)
            checked += 1
    assert checked > 30_000 // CUT_STEP


@pytest.mark.parametrize("full", [False, True])
def test_the_walker_takes_no_cut_message_for_a_whole_one(full: bool) -> None:
    """Truncated when the capture kept only that much; malformed when the frame itself ends there."""
    samples = list(random_messages.one_of_each(1, full))
    whole = [(message(sample), cut) for sample in samples for cut in cuts(sample) if cut]
    captured = decoded([each for each, _ in whole], [cut for _, cut in whole])
    assert set(captured) == {layout.DECODED_TRUNCATED}
    ended = decoded([each._replace(frame=each.frame[:cut]) for each, cut in whole])
    assert set(ended) == {layout.DECODED_MALFORMED}


@pytest.mark.slow
def test_what_the_walker_keeps_of_a_cut_message_is_true() -> None:
    samples = list(random_messages.one_of_each(2, full=True))
    cut = [(message(sample), place) for sample in samples for place in list(cuts(sample))[1::9]]
    whole = {each: helpers.projected(each) for each, _ in cut}
    got = helpers.walked(WALKER, [each for each, _ in cut], [place for _, place in cut])
    for row, (each, place) in enumerate(cut):
        want = whole[each]
        assert got.values[row].items() <= want.values.items(), (each, place)
        for mine, wanted in ((got.entries[row], want.entries), (got.errors[row], want.errors)):
            assert len(mine) <= len(wanted), (each, place)
            for one, other in zip(mine, wanted, strict=False):
                assert one.items() <= other.items(), (each, place)


# ---- wrong lengths ----


def outcome(found: Explained, frame: bytes) -> str:
    """What tells of a wrong length; "another message" when the bytes are exactly those of one that is right."""
    if found.error is not None:
        assert found.error.kind in ("truncated", "malformed"), found
        assert 0 <= found.error.offset <= len(frame), found
        return found.error.kind
    if found.leftover_bytes:
        return "leftover"
    if found.notes:
        return "note"
    again = encode(found.api_key, found.version, found.direction, plain(found.header), plain(found.body))
    return "another message" if again == frame else "unnoticed"


@pytest.mark.slow
def test_wrong_lengths_are_told_and_the_walker_agrees() -> None:
    """Of a length that is 1 too small the rest may still be a message: "" for null, or one byte from tag to tag. Then
    the bytes themselves are such a message, as writing it proves."""
    told: Counter[str] = Counter()
    for kind in KINDS:
        sample = random_messages.sample(kind, Random(f"lengths {kind}"), full=True)
        lengths = sample.lengths[sum(kind[:2]) % LENGTH_STEP :: LENGTH_STEP]
        frames = [message(sample, frame) for length in lengths for frame in damage.wrong_lengths(sample.frame, length)]
        trees = [explain(*each[:4]) for each in frames]
        for each, found in zip(frames, trees, strict=True):
            told[outcome(found, each.frame)] += 1
            assert node_count(found) <= len(each.frame), each
        assert_same_verdicts(frames, trees)
    print(dict(told))
    assert told["truncated"] > 10_000 // LENGTH_STEP
    assert told["malformed"] > 5_000 // LENGTH_STEP
    assert told["leftover"] > 1000 // LENGTH_STEP
    # A varint of more bytes than it needs, or a bool that is not 1, is written in another way.
    assert told["unnoticed"] <= 10


def assert_same_verdicts(frames: list[Message], trees: list[Explained]) -> None:
    """The walker reads what the interpreter can read, and its columns are those that the trees imply."""
    readable = [(each, found) for each, found in zip(frames, trees, strict=True) if found.error is None]
    for each, found, verdict in zip(frames, trees, decoded(frames), strict=True):
        assert verdict == implied_columns.verdict(found), each
    got = helpers.walked(WALKER, [each for each, _ in readable])
    for row, (each, found) in enumerate(readable):
        if not any("occurs twice" in note for note in found.notes):  # the tree keeps the last, rows have both
            assert (got.values[row], got.entries[row], got.errors[row]) == implied_columns.project(found, each.frame), (
                each
            )


# ---- memory ----


def node_count(found: Explained) -> int:
    return 0 if found.body is None else sum(1 for _ in nodes(found.body))


def peak_bytes(run: Callable[[], object]) -> int:
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    run()
    return tracemalloc.get_traced_memory()[1] - before


@pytest.mark.slow
def test_huge_lengths_cost_no_more_memory_than_the_frame() -> None:
    samples = list(random_messages.one_of_each(3, full=True))
    damaged = [
        message(sample, damage.huge(sample.frame, length)) for sample in samples for length in sample.lengths[::2]
    ]
    assert len(damaged) > 3000
    block, frames = helpers.batch(damaged)
    values = new_matrix(layout.VALUE_COLUMNS, len(damaged))
    decoded([message(sample) for sample in samples])  # schemas and programs are read before
    tracemalloc.start()
    try:
        for each in damaged:
            peak = peak_bytes(lambda each=each: explain(*each[:4]))  # type: ignore[misc]
            assert peak < 16_000 + 400 * len(each.frame), (peak, each)
        peak = peak_bytes(lambda: WALKER.walk(block, b"", frames, len(damaged), values))
        assert peak < 20 * len(block), peak
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("filler", [b"\x00", b"\x01", b"\x02"])
def test_as_many_elements_as_bytes_make_no_more_nodes_than_bytes(filler: bytes) -> None:
    """Each count is the largest that is let through; what follows reads as empty things, or as many small ones."""
    most = 300
    for sample in random_messages.one_of_each(4, full=True):
        hostile = []
        for length in sample.lengths:
            if length.kind == "array":
                count = damage.written(length.form, most + (length.form == "varint"))
                hostile.append(message(sample, sample.frame[: length.at] + count + filler * most))
        for each in hostile:
            assert node_count(explain(*each[:4])) <= len(each.frame), each
        got = helpers.walked(WALKER, hostile)
        for each, entries, errors in zip(hostile, got.entries, got.errors, strict=True):
            assert len(entries) + len(errors) <= len(each.frame), each
