"""A dead line is found in what a filter leaves, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import dataset
from offset_stories import dead_to_the_end

from analyzer.base.filters import Filters
from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize("tried_s", [None, 7])  # the last of its packets may be long before the end of the capture
@pytest.mark.parametrize("filters", [Filters(), Filters(clients=("10.0.0.1",))])
def test_a_line_that_is_dead_to_the_end_is_found(tmp_path: Path, tried_s: float | None, filters: Filters) -> None:
    with dataset(tmp_path, dead_to_the_end(tried_s=tried_s), filters=filters) as made:
        (found,) = find(made, [rule("line_dead")])
    assert found.row["silent_ns"] == 20 * 10**9
