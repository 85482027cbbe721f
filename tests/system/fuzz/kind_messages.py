"""Bodies: messages of any API and version with wrong lengths and wrong bytes, through the walker and the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import damage
import implied_columns
import material
import walk_helpers as helpers
from damage_bytes import damage as damage_bytes
from kinds import law
from walk_helpers import Message

from dissectors import layout
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import explain
from dissectors.matrix import new_matrix

# (key, version, direction, bytes that are there, length as the frame claims it)
Input = tuple[int, int, str, bytes, int]
COMPARED = 24
OUTCOMES = {
    layout.DECODED_FULL, layout.DECODED_HEADER, layout.DECODED_TRUNCATED, layout.DECODED_MALFORMED,
    layout.DECODED_UNSUPPORTED, layout.DECODED_TRAILING,
}  # fmt: skip
LENGTHS = (0, 1, -1, -2, 2, 127, 128, 255, 32767, 65535, 1 << 20, (1 << 31) - 1, (1 << 32) - 1)
LARGEST = {"int16": 1 << 15, "int32": 1 << 31, "varint": 1 << 32, "zigzag": 1 << 31}


class Messages:
    """The verdict of walker and interpreter is the same, and so are the columns of what both can read."""

    name = "messages"
    round_inputs = 256

    def __init__(self) -> None:
        self.walker = Walker(write_entries=True)

    def make(self, chance: Random) -> Input:
        whole = chance.choice(material.messages())
        data = bytearray(whole.frame)
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 6))):
            if whole.lengths and chance.random() < 0.5:
                wrong_length(data, chance.choice(whole.lengths), chance)
            else:
                damage_bytes(data, chance)
        key, version = whole.key, whole.version
        if chance.random() < 0.1:
            version = chance.choice((0, version + 1, max(0, version - 1), chance.randrange(32), 32767))
        if chance.random() < 0.02:
            key = chance.choice((chance.randrange(100), 999, 32767))
        claimed = len(data)
        if chance.random() < 0.2:
            claimed += chance.choice((1, 2, 100, 1 << 20, (1 << 30) - 4))
        return key, version, whole.direction, bytes(data), claimed

    def check(self, inputs: Sequence[Input]) -> None:
        messages = [Message(key, version, direction, data) for key, version, direction, data, _ in inputs]
        block, frames = helpers.batch(messages)
        for row, each in enumerate(inputs):
            frames[layout.FRAME_LENGTH, row] = each[4]
        values = new_matrix(layout.VALUE_COLUMNS, len(inputs))
        entries, errors = self.walker.walk(block, b"", frames, len(inputs), values)
        law(entries + errors <= len(block), entries, "entries and", errors, "errors of", len(block), "bytes")
        for row, each in enumerate(inputs):
            verdict = frames[layout.FRAME_DECODED, row]
            law(verdict in OUTCOMES or not each[3], "no verdict", verdict, each)
            law(verdict != layout.DECODED_FULL or each[4] == len(each[3]), "a cut message taken for whole", each)
        self.compare([each for each in inputs if each[4] == len(each[3]) and each[3]][:COMPARED])
        if self.walker.strings_full():
            self.walker.clear_strings()

    def compare(self, inputs: Sequence[Input]) -> None:
        messages = [Message(*each[:4]) for each in inputs]
        got = helpers.walked(self.walker, messages)
        for row, message in enumerate(messages):
            found = explain(*message[:4])
            verdict = implied_columns.verdict(found)
            law(got.decoded[row] == verdict, "walker says", got.decoded[row], "interpreter", found.error, message)
            if verdict != layout.DECODED_MALFORMED and not any("occurs twice" in note for note in found.notes):
                mine, theirs = (
                    (got.values[row], got.entries[row], got.errors[row]),
                    implied_columns.project(found, message.frame),
                )
                law(mine == theirs, "columns differ", mine, theirs, message)


def wrong_length(data: bytearray, length: material.Length, chance: Random) -> None:
    """Writes another number where a length stands (unless the bytes have moved, when it is any place)."""
    number = chance.choice(LENGTHS) if chance.random() < 0.5 else length.raw + chance.choice((-1, 1, -2, 2))
    top = LARGEST[length.form]
    if length.form == "varint":
        number &= 0xFFFFFFFF
    else:
        number = max(-top, min(number, top - 1))
    data[length.at : length.end] = damage.written(length.form, number)
