"""What is said of errors that no rule of their own tells of."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import FETCH, failing
from made_rows import START_NS, dataset, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

STORAGE, CORRUPT = "KAFKA_STORAGE_ERROR", "CORRUPT_MESSAGE"


@pytest.mark.parametrize(
    ("code", "name", "ports", "where"),
    [
        (56, STORAGE, [9092, 9092, 9092], ", at broker 10.0.1.1:9092"),
        (56, STORAGE, [9092, 9093, 9092], ""),
        (2, CORRUPT, [9092, 9092, 9092], ""),
    ],
)
def test_a_disk_that_fails_has_its_broker(code: int, name: str, ports: list[int], where: str, tmp_path: Path) -> None:
    rows = [exchange(n, at_ns=START_NS + n, broker_port=port, **FETCH) for n, port in enumerate(ports)]
    with dataset(tmp_path, failing(code, rows, topic="t", name=name)) as made:
        (found,) = find(made, [rule("failing")])
    assert sentence(found.rule.says, found.row).startswith(f"Fetch fails with {name}, 3 times{where}, topic t: ")


@pytest.mark.parametrize(
    ("names", "ids", "topic"), [(["t"], ["A"], "t"), (["t", "u"], ["A"], None), (["t"], ["A", "B"], None)]
)
def test_a_topic_asked_for_by_its_id_and_then_by_its_name_is_one(
    names: list[str], ids: list[str], topic: str | None, tmp_path: Path
) -> None:
    rows = [exchange(n, at_ns=START_NS + n, **FETCH) for n in range(len(names) + len(ids))]
    story = failing(3, rows, name="UNKNOWN_TOPIC_OR_PARTITION")
    for row, told in zip(
        story["errors"], [("topic_id", each) for each in ids] + [("topic", each) for each in names], strict=True
    ):
        row |= {told[0]: told[1]}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("failing")])
    assert found.row["topic"] == topic
