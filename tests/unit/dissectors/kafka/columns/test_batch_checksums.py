"""Checksums of many batches at once: what is damaged is told, each one, whatever lies beside it."""

from __future__ import annotations

from random import Random

import google_crc32c
import pytest
import random_batches
from batch_helpers import rows_of_field, summed

from dissectors import layout
from dissectors.kafka.columns import batch_format


def whole(chance: Random, magic: int = 2, codec: int = 0, count: int = 2) -> bytes:
    return bytes(summed(random_batches.batch(random_batches.records(chance, magic, count), magic, codec).data))


def damaged(batch: bytes, bit: int) -> bytes:
    """With another bit among those that the checksum covers."""
    data = bytearray(batch)
    data[-1 - bit // 8] ^= 1 << bit % 8
    return bytes(data)


def verdicts(batches: list[bytes]) -> list[object]:
    return [row[layout.BATCH_CRC_OK] for row in rows_of_field(b"".join(batches), size=len(batches) + 1)]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_every_damaged_batch_is_told_and_no_other(magic: int) -> None:
    chance = Random(f"damage {magic}")
    for _ in range(30):
        good = [whole(chance, magic, count=1) for _ in range(chance.randint(1, 30))]
        bad = [chance.random() < 0.2 for _ in good]
        batches = [
            damaged(each, chance.randrange(16)) if is_bad else each for each, is_bad in zip(good, bad, strict=True)
        ]
        assert verdicts(batches) == [int(not is_bad) for is_bad in bad]


@pytest.mark.parametrize("copies", [2, 3, 4, 8, 64])
def test_copies_of_a_damaged_batch_do_not_hide_each_other(copies: int) -> None:
    chance = Random(copies)
    for bit in range(0, 200, 13):
        bad = damaged(whole(chance, count=5), bit)
        good = whole(chance)
        for between in (0, 1, 7):
            batches = [bad, *[good] * between] * copies
            assert verdicts(batches) == [0, *[1] * between] * copies


@pytest.mark.parametrize("magic", [1, 2])
def test_damages_do_not_cancel_each_other_wherever_they_are(magic: int) -> None:
    """The same bit of two batches, at all distances from their ends."""
    chance = Random(magic)
    one, other = whole(chance, magic, count=1), whole(chance, magic, count=1)
    bits = 8 * (min(len(one), len(other)) - 18)  # behind the magic
    for bit in range(0, bits, 3):
        for shift in range(-40, 41, 8):
            if 0 <= bit + shift < bits:
                assert verdicts([damaged(one, bit), damaged(other, bit + shift), one]) == [0, 0, 1]


def test_groups_of_all_sizes_and_batches_too_large_for_one() -> None:
    chance = Random(11)
    for magic in (1, 2):
        small = whole(chance, magic, count=1)
        large = whole(chance, 2, count=200)
        assert len(large) > 2 * batch_format.GROUPED_BYTES
        full = batch_format.GROUP_BYTES // len(small)
        for count in (full - 1, full, full + 1, 3 * full + 5):
            place = chance.randrange(count)
            batches = [damaged(small, 3) if number == place else small for number in range(count)]
            batches[count // 2 : count // 2] = [large, damaged(large, 99), large]
            wanted = [int(number != place) for number in range(count)]
            wanted[count // 2 : count // 2] = [1, 0, 1]
            assert verdicts(batches) == wanted


@pytest.mark.parametrize("covered", [40, 41, 4095, 4096, 4097, 9000])
def test_sizes_at_the_border_of_a_group(covered: int) -> None:
    header = bytearray(21 + covered)
    header[8:12] = (9 + covered).to_bytes(4, "big")
    header[16] = 2
    header[21:] = Random(covered).randbytes(covered)
    header[22] &= 0xF8
    header[17:21] = google_crc32c.value(bytes(header[21:])).to_bytes(4, "big")
    good = bytes(header)
    assert verdicts([good, damaged(good, 5), good]) == [1, 0, 1]
