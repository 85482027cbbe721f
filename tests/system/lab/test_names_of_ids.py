"""Captures that begin late: what fetched topics are called no message says, and batches tell it that somebody wrote by the name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from effort import LONG, also_long
from parts_of_captures import days
from paths import ROOT

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

INCIDENTS = ROOT / "tests" / "data" / "incidents"
SOME = ["assignors_differ", "cache_restarts", "flink_day"]
OTHERS = sorted(path.name.split(".")[0] for path in INCIDENTS.glob("*.pcap.zst")) if LONG else []


@cache
def names(path: Path) -> dict[str, str | None]:
    """Name of each topic id under which batches were fetched."""
    with open_dataset([str(path)], Options()) as found:
        rows = found.query("SELECT DISTINCT topic_id, topic FROM batches WHERE topic_id IS NOT NULL")
    return {row["topic_id"]: row["topic"] for row in rows}


@pytest.mark.parametrize("name", also_long(SOME, [name for name in OTHERS if name not in SOME]))
def test_names_are_those_of_the_whole_capture(name: str, tmp_path: Path) -> None:
    whole = INCIDENTS / f"{name}.pcap.zst"
    _, late = days(whole, 2, tmp_path)
    told, found = names(whole), names(late)
    assert not {key: name for key, name in found.items() if name and told[key] not in (None, name)}
    if name in SOME:
        with open_dataset([str(late)], Options()) as dataset:
            said = {row["topic_id"] for row in dataset.query("SELECT topic_id FROM topic_ids")}
            met = {row["topic"] for row in dataset.metric("topics")}
        inferred = {key for key, topic in found.items() if topic} - said
        assert inferred and not inferred & met
