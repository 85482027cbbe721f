"""What is said of errors that no rule of their own tells of."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import FETCH, PRODUCE, failing
from made_rows import START_NS, dataset, error, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_object
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


@pytest.mark.parametrize(("code", "name", "said"), [(10, "MESSAGE_TOO_LARGE", True), (2, CORRUPT, False)])
def test_what_a_limit_refused_has_its_size(code: int, name: str, said: bool, tmp_path: Path) -> None:
    rows = [exchange(n, at_ns=START_NS + n, **PRODUCE) for n in range(3)]
    place = {"connection": 1, "side": "request", "topic": "t", "position": 0, "codec": "none", "magic": 2}
    sizes = [(0, 0, 70_000), (1, 0, 60_000), (1, 0, 90), (2, 1, 100), (2, 0, 80_000)]
    batches = [place | {"exchange": n, "partition": number, "bytes": size} for n, number, size in sizes]
    story = failing(code, rows, topic="t", partition=0, name=name) | {"batches": batches}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("failing")])
    told = as_object(found)
    assert told["do"].endswith(" Batches of 60 kB and more were refused.") is said and "3 times" in told["sentence"]


def test_the_size_is_told_of_the_limit_alone(tmp_path: Path) -> None:
    story = failing(
        87, [exchange(n, at_ns=START_NS + n, **PRODUCE) for n in range(3)], name="INVALID_RECORD", topic="u"
    )
    for n in range(3):
        story["errors"].append(error(n, 10, name="MESSAGE_TOO_LARGE", topic="t", partition=0, expected=False))
    place = {"connection": 1, "side": "request", "topic": "t", "partition": 0, "position": 0, "bytes": 60_000}
    story["batches"] = [place | {"exchange": n} for n in range(3)]
    with dataset(tmp_path, story) as made:
        told = {each.row["name"]: each.row["refused_bytes"] for each in find(made, [rule("failing")])}
    assert told == {"INVALID_RECORD": None, "MESSAGE_TOO_LARGE": 60_000}
