"""Nothing of a partition is lost or told twice: the rows of its story are the rows of entries, batches and assignments about it."""

from __future__ import annotations

from collections import Counter

import pytest
from effort import one_in
from paths import ROOT

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.run.local import open_dataset

NAMES = ("transactions", "groups_classic", "old_java", "groups_848", "throttle")
_ABOUT = "coalesce(topic, topic_id) AS topic, partition"


@pytest.mark.parametrize("name", NAMES[:: one_in(2)])
def test_each_row_of_the_tables_is_in_the_story_once(name: str) -> None:
    with open_dataset([str(ROOT / "samples" / f"{name}.pcap.zst")], Options(tables=None)) as found:
        found.choose(Settings())
        rows = found.metric("partition_story")
        entries = found.query(f"SELECT exchange, {_ABOUT} FROM entries WHERE partition IS NOT NULL")
        batches = found.query(
            f"SELECT exchange, side, {_ABOUT}, stored_base_offset FROM batches WHERE partition IS NOT NULL"
        )
        assigned = found.query(f"SELECT exchange, {_ABOUT} FROM assignments")
        (first,) = found.query("SELECT topic, partition, count(*) FROM batches GROUP BY ALL ORDER BY 3 DESC LIMIT 1")
        found.choose(Settings(partition=(first["topic"], first["partition"])))
        alone = found.metric("partition_story")
    told: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        told[row["exchange"], row["topic"], row["partition"]] += row["entries"]
    assert +told == Counter((row["exchange"], row["topic"], row["partition"]) for row in entries)
    sides = {"produced": "request", "delivered": "response"}
    carried = Counter(
        (row["exchange"], sides[row["event"]], row["topic"], row["partition"], row["first_offset"])
        for row in rows if row["event"] in sides and row["batches"]
    )  # fmt: skip
    assert carried == Counter(tuple(row.values()) for row in batches)
    assert Counter(row["exchange"] for row in rows if row["event"] == "assigned") == Counter(
        row["exchange"] for row in assigned
    )
    # One partition alone has the story that it has among all.
    same = [row for row in rows if (row["topic"], row["partition"]) == (first["topic"], first["partition"])]
    assert [{**row, "group_id": None} for row in alone] == [{**row, "group_id": None} for row in same]
    assert [row["time_ns"] for row in alone] == sorted(row["time_ns"] for row in alone) or len(
        {row["cluster"] for row in alone}
    ) > 1
