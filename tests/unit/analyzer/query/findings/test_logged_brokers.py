"""What a slow broker did is said where its own log says it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import on_two_brokers
from made_rows import dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

MS_NS = 1_000_000


@pytest.mark.parametrize(
    ("part", "logged", "words"),
    [
        ("local", 40, "work on this broker (local: its disk and locks), 75 % by the broker's log"),
        ("remote", 40, "waiting for its followers (remote), 75 % by the broker's log"),
        ("queue", 40, "waiting for a free handler thread (request queue), 75 % by the broker's log"),
        ("response_queue", 20, "waiting for a free network thread (response queue), 75 % by the broker's log"),
        ("send", 20, "sending the reply, 75 % by the broker's log"),
        # Less than half of the slow requests are in the log.
        ("local", 19, None),
        # No part is most of it.
        (None, 40, None),
    ],
)
def test_the_sentence_names_the_part_that_took_it(
    part: str | None, logged: int, words: str | None, tmp_path: Path
) -> None:
    tables = on_two_brokers(60 * MS_NS, 10 * MS_NS)
    names = ("local", "remote", "queue", "response_queue", "send")
    for row in tables["exchanges"][:logged]:
        row["log_total_ns"] = 60 * MS_NS
        row |= {f"log_{name}_ns": 12 * MS_NS if part is None else 45 * MS_NS if name == part else 0 for name in names}
    with dataset(tmp_path, tables) as made:
        (found,) = find(made, [rule("slow_broker")])
    said = sentence(found.rule.says, found.row)
    assert found.row["broker"] == "10.0.1.1:9092"
    assert said.endswith(words) if words else "log" not in said
