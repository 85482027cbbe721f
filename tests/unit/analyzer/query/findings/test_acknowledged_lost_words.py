"""What is said of acknowledged records that are gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_rows import dataset
from progress_stories import Tables, unread, written

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


@pytest.mark.parametrize(
    ("story", "says"), [(written, "gave 20 offsets from 190 on"), (unread, "gave at least 11 offsets from 190 on")]
)
def test_what_the_last_batch_took_may_be_unknown(
    tmp_path: Path, story: Callable[[list[int]], Tables], says: str
) -> None:
    with dataset(tmp_path, story([100, 200, 190])) as made:
        (found,) = find(made, [rule("acknowledged_lost")])
    assert says in sentence(found.rule.says, found.row)
