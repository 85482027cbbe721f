"""What the tests of the walker share: vectors, batches of frames, and what the walker makes of them.

Run as a script, it prints a digest of what the walker makes of Apache's messages (for compiled = uncompiled).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from implied_columns import Projected, project
from kafka_reference import RELEASES
from kafka_vectors import vectors

from dissectors import layout
from dissectors.kafka.columns import walk
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import explain
from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix


class Message(NamedTuple):
    key: int
    version: int
    direction: str
    frame: bytes
    body_offset: int = -1


def apaches_messages() -> list[Message]:
    """The messages that Apache's encoder wrote."""
    return [
        Message(row["api_key"], row["version"], row["direction"], bytes.fromhex(row["hex"]), row["body_offset"])
        for release in RELEASES
        for row in vectors(release)
    ]


def batch(messages: list[Message], held: list[int] | None = None, gap: bytes = b"\xff") -> tuple[bytes, memoryview]:
    """A block with the frames one behind another, `gap` between them, and their frame rows.

    `held` cuts what is there of each frame; the cut bytes are not in the block at all.
    """
    frames = new_matrix(layout.FRAME_COLUMNS, max(1, len(messages)))
    block = bytearray(gap)
    for row, message in enumerate(messages):
        kept = len(message.frame) if held is None else held[row]
        request = message.direction == "request"
        frames[layout.FRAME_EVENT, row] = layout.FRAME_REQUEST_SEEN if request else layout.FRAME_REPLY_SEEN
        frames[layout.FRAME_OFFSET, row] = len(block)
        frames[layout.FRAME_HELD, row] = kept
        frames[layout.FRAME_LENGTH, row] = len(message.frame)
        frames[layout.FRAME_KEY, row] = message.key
        frames[layout.FRAME_VERSION, row] = message.version
        block += message.frame[:kept] + gap
    return bytes(block), frames


class Walked(NamedTuple):
    """Columns as Python values: texts as str, absent things left out."""

    decoded: list[int]
    body: list[int]
    values: list[dict[int, object]]
    entries: list[list[dict[int, object]]]
    errors: list[list[dict[int, object]]]


TEXTS_OF_ERRORS = {layout.ERROR_TOPIC, layout.ERROR_ENTITY, layout.ERROR_MESSAGE}
TEXT_VALUES = {
    layout.VALUE_CLIENT_ID,
    layout.VALUE_GROUP_ID,
    layout.VALUE_MEMBER_ID,
    layout.VALUE_TRANSACTIONAL_ID,
    layout.VALUE_SOFTWARE_NAME,
    layout.VALUE_SOFTWARE_VERSION,
    layout.VALUE_MECHANISM,
    layout.VALUE_RACK_ID,
}


def known(matrix: memoryview, columns: int, row: int, texts: list[bytes], text_columns: set[int]) -> dict[int, object]:
    found: dict[int, object] = {}
    for column in range(columns):
        value = matrix[column, row]
        if value != UNKNOWN:
            found[column] = texts[value].decode("utf-8", "replace") if column in text_columns else value
    return found


def walked(walker: Walker, messages: list[Message], held: list[int] | None = None) -> Walked:
    """What the walker makes of messages, as one batch."""
    block, frames = batch(messages, held)
    values = new_matrix(layout.VALUE_COLUMNS, max(1, len(messages)))
    entries_used, errors_used = walker.walk(block, b"", frames, len(messages), values)
    return read_columns(walker, messages, frames, values, entries_used, errors_used)


def read_columns(
    walker: Walker, messages: list[Message], frames: memoryview, values: memoryview, entries_used: int, errors_used: int
) -> Walked:
    count = len(messages)
    texts = walker.texts()
    found = Walked(
        [frames[layout.FRAME_DECODED, row] for row in range(count)],
        [frames[layout.FRAME_BODY, row] for row in range(count)],
        [known(values, layout.VALUE_COLUMNS, row, texts, TEXT_VALUES) for row in range(count)],
        [[] for _ in range(count)],
        [[] for _ in range(count)],
    )
    for row in range(entries_used):
        entry = known(walker.rows_of_entries(), layout.ENTRY_COLUMNS, row, texts, {layout.ENTRY_TOPIC})
        found.entries[entry.pop(layout.ENTRY_FRAME)].append(entry)  # type: ignore[index]
    for row in range(errors_used):
        error = known(walker.rows_of_errors(), layout.ERROR_COLUMNS, row, texts, TEXTS_OF_ERRORS)
        found.errors[error.pop(layout.ERROR_FRAME)].append(error)  # type: ignore[index]
    return found


def projected(message: Message) -> Projected:
    found = explain(message.key, message.version, message.direction, message.frame)
    assert found.error is None, (message, found.error)
    return project(found, message.frame)


def digest(messages: list[Message]) -> str:
    """Of all columns that the walker makes of messages."""
    found = walked(Walker(write_entries=True), messages)
    return hashlib.sha256(repr(found).encode()).hexdigest()


if __name__ == "__main__":
    print(Path(walk.__file__).name, digest(apaches_messages()))
