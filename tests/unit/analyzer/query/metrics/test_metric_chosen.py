"""What the filters leave is counted as all is."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.run.local import open_dataset

COUNTS = ("brokers", "clients", "requests", "captured_ns")


@pytest.mark.parametrize("name", ["groups_848", "groups_classic", "old_java", "transactions", "versions"])
def test_a_filter_that_leaves_all_counts_what_is_there(name: str, samples: Path) -> None:
    capture = [str(samples / f"{name}.pcap.zst")]
    with open_dataset(capture, Options()) as whole:
        (all_of_it,) = whole.metric("coverage")
    with open_dataset(capture, Options(filters=Filters(from_ns=0))) as filtered:
        (left,) = filtered.metric("chosen")
    assert [left[name] for name in COUNTS] == [all_of_it[name] for name in COUNTS]
