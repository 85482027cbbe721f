"""Record batches in messages: damaged Produce and Fetch messages, through walker and batch rows, and through the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import batch_helpers
from damage_bytes import damage as damage_bytes
from kinds import law
from walk_helpers import Message

from dissectors import layout
from dissectors.kafka.columns.walk import Walker

# (key, version, direction, frame)
Input = tuple[int, int, str, bytes]


class Batches:
    """Both find the same batches, with the same headers, and the same checksums fit."""

    name = "batches"
    round_inputs = 64

    def __init__(self) -> None:
        self.walker = Walker(write_sets=True)

    def make(self, chance: Random) -> Input:
        whole = batch_helpers.made_message(chance)
        data = bytearray(whole.frame)
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            damage_bytes(data, chance)
        return whole.key, whole.version, whole.direction, bytes(data)

    def check(self, inputs: Sequence[Input]) -> None:
        messages = [Message(*each) for each in inputs]
        decoded, rows = batch_helpers.rows_of_messages(self.walker, messages)
        for message, verdict, got in zip(messages, decoded, rows, strict=True):
            want = batch_helpers.explained_rows(message) if message.frame else []
            if want is None:
                law(verdict != layout.DECODED_FULL, "the walker reads what the interpreter does not", message)
                law(not got or verdict == layout.DECODED_TRUNCATED, "batches of a malformed message", message)
            else:
                found = [batch_helpers.compared(row) for row in got]
                law(found == want, "batches differ", found, want, message)
        if self.walker.strings_full():
            self.walker.clear_strings()
