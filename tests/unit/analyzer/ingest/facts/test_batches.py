"""The table of record batches: which compressed ones are opened, and what is said of the others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
import random_batches
import walk_helpers
from batch_helpers import summed
from encode import encode
from walk_helpers import Message

from analyzer.ingest.facts import batches
from analyzer.ingest.raw_writer import Writer
from dissectors import layout
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.codecs import CODECS
from dissectors.matrix import new_matrix


def compressed(codec: int, seed: int, magic: int = 2) -> bytes:
    rows = random_batches.records(Random(seed), magic, 40)
    return bytes(summed(random_batches.batch(rows, magic, codec).data))


def damaged(batch: bytes) -> bytes:
    """Without anything that a codec could read."""
    return batch[:70] + b"\xff" * (len(batch) - 70)


def table(folder: Path, records: list[bytes], seldom: bool = True) -> list[dict[str, Any]]:
    """The rows of a Produce request with these records, one partition each."""
    partitions = [{"index": number, "records": each} for number, each in enumerate(records)]
    body = {"topic_data": [{"name": "orders", "partition_data": partitions}]}
    block, frames = walk_helpers.batch([Message(0, 9, "request", encode(0, 9, "request", {}, body))])
    walker = Walker(write_sets=True)
    walker.walk(block, b"", frames, 1, new_matrix(layout.VALUE_COLUMNS, 1))
    writer = Writer()
    found = batches.Batches(folder, writer, seldom)
    found.take(frames, memoryview(block), bytearray(), walker)
    assert found.rows == len(records)
    found.flush(walker.texts())
    writer.close()
    rows: list[dict[str, Any]] = pq.read_table(folder / "raw_batches.parquet").to_pylist()
    return rows


@pytest.mark.parametrize("magic", [1, 2])
def test_compressed_batches_are_opened(magic: int, tmp_path: Path) -> None:
    codecs = range(1, 5 if magic == 2 else 4)
    rows = table(tmp_path, [compressed(codec, 7, magic) for codec in codecs])
    size = len(random_batches.payload(random_batches.records(Random(7), magic, 40), magic, 1000).data)
    assert [(row["codec"], row["uncompressed_bytes"], row["unopened"]) for row in rows] == [
        (CODECS[codec], size, None) for codec in codecs
    ]
    assert {row["records"] for row in rows} == {40}


def test_one_that_cannot_be_read_is_told_from_one_that_the_budget_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = compressed(1, 3)
    opened = table(tmp_path, [good])[0]["uncompressed_bytes"]
    # A damaged one costs what was tried.
    monkeypatch.setattr(batches, "_BUDGET_BYTES", 4 * opened + 2 * 65_536)
    rows = table(tmp_path, [good, damaged(good), good, good, *[good] * 200])
    assert [row["unopened"] for row in rows[:4]] == [None, "unreadable", None, None]
    assert rows[1]["uncompressed_bytes"] is None
    told = Counter(row["unopened"] for row in rows)
    assert told["budget"] > 100
    assert all((row["uncompressed_bytes"] is None) == (row["unopened"] is not None) for row in rows)
    assert rows[-1]["unopened"] == "budget"


def test_of_an_unknown_codec_nothing_is_known(tmp_path: Path) -> None:
    strange = bytearray(compressed(0, 1))
    strange[22] |= 7
    (row,) = table(tmp_path, [bytes(strange)])
    assert (row["codec"], row["uncompressed_bytes"], row["unopened"], row["crc_ok"]) == (
        None,
        None,
        "unreadable",
        False,
    )


def test_without_seldom_columns_the_others_are_the_same(tmp_path: Path) -> None:
    records = [
        compressed(codec, seed, magic)
        for seed in range(5)
        for magic, codec in random_batches.FORMATS
        if codec or magic == 2
    ]
    (tmp_path / "lean").mkdir()
    full, lean = table(tmp_path, records[:20]), table(tmp_path / "lean", records[:20], seldom=False)
    assert set(full[0]) - set(lean[0]) == {field.name for field in batches.FIELDS if field.seldom}
    assert [{name: row[name] for name in lean[0]} for row in full] == lean
