"""Record batches: every magic and codec with wrong lengths, damaged before or after they are compressed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import material
import random_batches
from damage_bytes import damage as damage_bytes
from kind_messages import wrong_length
from kinds import law

from dissectors.kafka.messages.records import Budget, read_records

Input = bytes
BUDGET_BYTES = 1 << 20


class Records:
    """Every byte is in a batch or in the part that is cut off; no more is decompressed than allowed."""

    name = "records"
    round_inputs = 32

    def make(self, chance: Random) -> Input:
        if chance.random() < 0.3:
            return self.damaged_inside(chance)
        packed = chance.choice(material.batches())
        data = bytearray(packed.data)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            if packed.lengths and chance.random() < 0.5:
                wrong_length(data, chance.choice(packed.lengths), chance)
            else:
                damage_bytes(data, chance)
        if chance.random() < 0.2:
            data += chance.choice(material.batches()).data
        return bytes(data)

    def damaged_inside(self, chance: Random) -> Input:
        """What the codec hides is wrong; the compressed data itself is right."""
        magic, codec = chance.choice(random_batches.FORMATS)
        rows = random_batches.records(chance, magic, chance.randint(1, 4))
        inner = random_batches.payload(rows, magic, random_batches.BASE_OFFSET if magic else 0)
        data = bytearray(inner.data)
        if inner.lengths and chance.random() < 0.6:
            wrong_length(data, chance.choice(inner.lengths), chance)
        else:
            damage_bytes(data, chance)
        return random_batches.wrap(rows, bytes(data), magic, codec).data

    def check(self, inputs: Sequence[Input]) -> None:
        for data in inputs:
            budget = Budget(BUDGET_BYTES)
            found = read_records(data, True, budget, True)
            law(budget.left >= 0, "the budget is overdrawn", budget.left, data)
            at = 0
            for batch in found.batches:
                law(batch.start == at and batch.size_bytes > 0, "a batch out of its place", batch.start, at, data)
                at += batch.size_bytes
                records = batch.records or []
                law(len(records) <= BUDGET_BYTES + len(data), "more records than bytes", len(records), data)
                text = sum(len(each.key or b"") + len(each.value or b"") for each in records)
                law(text <= BUDGET_BYTES + len(data), "more bytes than were there", text, data)
                batch.header()
            if found.problem is None:
                law(at + found.partial_bytes == len(data), "bytes unaccounted for", at, found.partial_bytes, data)
            self.headers_alone(data, len(found.batches))

    @staticmethod
    def headers_alone(data: bytes, count: int) -> None:
        """Without records the same batches are found."""
        found = read_records(data)
        law(len(found.batches) == count, "as many batches without their records", len(found.batches), count, data)
