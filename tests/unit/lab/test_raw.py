"""Record batches that the lab writes by hand, read by kafka-python."""

from __future__ import annotations

import pytest
from kafka.record.default_records import DefaultRecordBatch

from lab.raw import batch


@pytest.mark.parametrize("transactional", [False, True])
def test_a_batch_is_one(transactional: bool) -> None:
    values = [b"one", b"", b"x" * 300]
    read = DefaultRecordBatch(batch(values, (7, 3), 12, transactional))
    assert read.validate_crc()
    assert (read.producer_id, read.producer_epoch, read.base_sequence) == (7, 3, 12)
    assert read.is_transactional is transactional
    assert [(record.offset, record.value) for record in read] == list(enumerate(values))
