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


def test_a_broker_that_answers_others_was_there_under_any_filter(samples: Path) -> None:
    """It resets connections of one host one after the other, and answers those of another host meanwhile."""
    capture = samples.parent / "tests/data/incidents/connection_rate.pcap.zst"
    with open_dataset([str(capture)], Options(filters=Filters(clients=("10.20.1.1",)))) as found:
        assert found.metric("hang_ups") and not found.metric("broker_losses")
