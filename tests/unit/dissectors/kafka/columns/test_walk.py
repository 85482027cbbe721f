"""The walker against the interpreter: its columns are what the tree implies, whole, cut, flipped, in any matrix."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import implied_columns
import pytest
import walk_helpers as helpers
from paths import ROOT
from walk_helpers import Message

from dissectors import layout
from dissectors.kafka.columns import program
from dissectors.kafka.columns.operations import OP_UNSUPPORTED
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.schema import lookup
from dissectors.matrix import new_matrix

BROKEN = (layout.DECODED_TRUNCATED, layout.DECODED_MALFORMED)


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return helpers.apaches_messages()


@pytest.fixture(scope="module")
def digest(messages: list[Message]) -> str:
    return helpers.digest(messages)


@pytest.mark.slow
def test_columns_are_the_projection_of_the_tree(messages: list[Message]) -> None:
    got = helpers.walked(Walker(write_entries=True), messages)
    for row, message in enumerate(messages):
        name = message[:3]
        want = helpers.projected(message)
        assert got.decoded[row] == layout.DECODED_FULL, name
        assert got.body[row] == message.body_offset, name
        assert got.values[row] == want.values, name
        assert got.entries[row] == want.entries, name
        assert got.errors[row] == want.errors, name


def test_without_entries_the_rest_is_the_same(messages: list[Message]) -> None:
    full = helpers.walked(Walker(write_entries=True), messages)
    lean = helpers.walked(Walker(), messages)
    assert any(full.entries)
    assert not any(lean.entries)
    assert lean[:3] == full[:3]
    assert lean.errors == full.errors


@pytest.mark.slow
def test_plain_python_gives_the_same_columns(digest: str) -> None:
    """The file as it is, loaded without its compiled form, in a process of its own."""
    environment = dict(os.environ, KANALYZE_UNCOMPILED="1", PYTHONPATH=str(ROOT))
    command = [sys.executable, helpers.__file__]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["walk.py", digest]


def test_every_schema_has_a_program_for_every_version() -> None:
    for key in lookup.readable_keys():
        api = lookup.api(key)
        assert api is not None
        for version in range(api.versions.first, api.versions.last + 1):
            for direction in ("request", "response"):
                for entries in (False, True):
                    made = program.build(key, version, direction, entries)
                    assert OP_UNSUPPORTED not in made.code[:1]
                    assert made.depth <= 12, (key, version, direction)


def cuts(messages: list[Message], step: int) -> list[tuple[Message, int]]:
    """Messages with a number of bytes to keep: every one of short messages, a sample of long ones."""
    found = []
    for number, message in enumerate(messages):
        size = len(message.frame)
        places = range(size) if size < 200 else range(number % 7, size, max(1, size // 200))
        found += [(message, place) for place in places if place > 0][number % step :: step]
    return found


@pytest.mark.slow
def test_a_frame_that_was_captured_in_part_is_truncated(messages: list[Message]) -> None:
    cut = cuts(messages, 1)
    got = helpers.walked(Walker(write_entries=True), [message for message, _ in cut], [kept for _, kept in cut])
    wrong = [cut[row] for row, decoded in enumerate(got.decoded) if decoded != layout.DECODED_TRUNCATED]
    assert len(cut) > 100_000
    assert not wrong


@pytest.mark.slow
def test_what_is_left_of_a_truncated_frame_is_true(messages: list[Message]) -> None:
    """No column may say anything that the whole message does not say."""
    cut = cuts(messages, 12)
    whole = {message: helpers.projected(message) for message, _ in cut}
    got = helpers.walked(Walker(write_entries=True), [message for message, _ in cut], [kept for _, kept in cut])
    for row, (message, kept) in enumerate(cut):
        want = whole[message]
        assert got.values[row].items() <= want.values.items(), (message[:3], kept)
        for entry, whole_entry in zip(got.entries[row], want.entries, strict=False):
            assert entry.items() <= whole_entry.items(), (message[:3], kept)
        for error, whole_error in zip(got.errors[row], want.errors, strict=False):
            assert error.items() <= whole_error.items(), (message[:3], kept)


@pytest.mark.slow
def test_a_frame_that_ends_too_early_is_malformed(messages: list[Message]) -> None:
    cut = [message._replace(frame=message.frame[:kept]) for message, kept in cuts(messages, 6)]
    got = helpers.walked(Walker(write_entries=True), cut)
    wrong = [cut[row] for row, decoded in enumerate(got.decoded) if decoded != layout.DECODED_MALFORMED]
    assert not wrong
    assert not any(got.entries)
    assert not any(got.errors)
    assert all(set(values) <= {layout.VALUE_CLIENT_ID} for values in got.values)


def flipped(messages: list[Message], count: int, seed: int) -> list[Message]:
    """Messages with one to four bytes changed, some towards the extremes."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        message = chance.choice(messages)
        frame = bytearray(message.frame)
        for _ in range(chance.randint(1, 4)):
            frame[chance.randrange(4, len(frame))] = chance.choice((0, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        found.append(message._replace(frame=bytes(frame)))
    return found


@pytest.mark.slow
def test_flipped_bytes_end_as_in_the_interpreter(messages: list[Message]) -> None:
    damaged = flipped(messages, 6000, seed=1)
    begin = time.perf_counter()
    got = helpers.walked(Walker(write_entries=True), damaged)
    assert time.perf_counter() - begin < 30
    compared = 0
    for row, message in enumerate(damaged):
        found = explain(message.key, message.version, message.direction, message.frame)
        assert got.decoded[row] == implied_columns.verdict(found), message
        if got.decoded[row] == layout.DECODED_MALFORMED or any("occurs twice" in note for note in found.notes):
            continue  # the tree keeps the last of both, rows have both
        want = implied_columns.project(found, message.frame)
        assert (got.values[row], got.entries[row], got.errors[row]) == want, message
        compared += 1
    assert compared > 1000


def test_small_matrices_give_the_same_rows(messages: list[Message]) -> None:
    """`feed` as a caller uses it who takes the rows away and grows only when one message alone does not fit."""
    whole = Walker(write_entries=True)
    want = helpers.walked(whole, messages)
    walker = Walker(write_entries=True)
    block, frames = helpers.batch(messages)
    values = new_matrix(layout.VALUE_COLUMNS, len(messages))
    sizes = {"entries": 1, "errors": 1}
    entries: list[dict[int, object]] = []
    errors: list[dict[int, object]] = []
    row, why, full = 0, layout.WHY_OUTPUT_FULL, 0
    while why != layout.WHY_DONE:
        entry_rows = new_matrix(layout.ENTRY_COLUMNS, sizes["entries"])
        error_rows = new_matrix(layout.ERROR_COLUMNS, sizes["errors"])
        row, entries_used, errors_used, why = walker.feed(
            block, b"", frames, len(messages), row, values, entry_rows, 0, error_rows, 0
        )
        texts = walker.texts()
        entries += [
            helpers.known(entry_rows, layout.ENTRY_COLUMNS, each, texts, {layout.ENTRY_TOPIC})
            for each in range(entries_used)
        ]
        errors += [
            helpers.known(error_rows, layout.ERROR_COLUMNS, each, texts, helpers.TEXTS_OF_ERRORS)
            for each in range(errors_used)
        ]
        if why == layout.WHY_NEED_PROGRAM:
            walker.add_program(*walker.wanted())
        elif why == layout.WHY_OUTPUT_FULL:
            full += 1
            if not entries_used and not errors_used:
                sizes = {name: size + 1 for name, size in sizes.items()}
    assert full > 100
    assert [entry.pop(layout.ENTRY_FRAME) for entry in entries] == [
        number for number, rows in enumerate(want.entries) for _ in rows
    ]
    assert [error.pop(layout.ERROR_FRAME) for error in errors] == [
        number for number, rows in enumerate(want.errors) for _ in rows
    ]
    assert entries == [entry for rows in want.entries for entry in rows]
    assert errors == [error for rows in want.errors for error in rows]
    got = helpers.read_columns(walker, messages, frames, values, 0, 0)
    assert got[:3] == want[:3]


def test_rows_beyond_the_limit_are_counted_and_dropped(messages: list[Message]) -> None:
    want = helpers.walked(Walker(write_entries=True), messages)
    rows = sum(len(each) for each in want.entries) + sum(len(each) for each in want.errors)
    walker = Walker(write_entries=True, most_rows=50)
    got = helpers.walked(walker, messages)
    assert sum(len(each) for each in got.entries) == sum(len(each) for each in got.errors) == 50
    assert walker.rows_dropped() == rows - 100
    assert got[:3] == want[:3]


def test_blocks_and_heaps_may_be_mixed(messages: list[Message]) -> None:
    some = messages[::9]
    want = helpers.walked(Walker(write_entries=True), some)
    block, frames = helpers.batch(some)
    for row in range(0, len(some), 3):
        frames[layout.FRAME_BUFFER, row] = 1
    heap = bytearray(block)
    values = new_matrix(layout.VALUE_COLUMNS, len(some))
    walker = Walker(write_entries=True)
    used = walker.walk(block, heap, frames, len(some), values)
    assert helpers.read_columns(walker, some, frames, values, *used) == want
    heap.append(0)  # BufferError if the walker still held it
