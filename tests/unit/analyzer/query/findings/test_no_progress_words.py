"""What is said of a consumer that makes no progress."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import dataset
from progress_stories import cut_off

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(("version", "says"), [(2, "ends within its first message"), (4, "the same records")])
def test_only_old_fetches_are_given_the_beginning_of_a_message(tmp_path: Path, version: int, says: str) -> None:
    with dataset(tmp_path, cut_off(version)) as made:
        (found,) = find(made, [rule("no_progress")])
    assert says in found.row["what"]
    assert ("max.partition.fetch.bytes" in found.row["advice"]) == (version == 2)
