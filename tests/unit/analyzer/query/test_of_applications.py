"""Findings about clients of one application: one a rule, with the application's name."""

from __future__ import annotations

from typing import Any, cast

from analyzer.query.dataset import Dataset
from analyzer.query.findings import rule
from analyzer.query.of_applications import of_applications
from analyzer.report.sentences import sentence

TINY, SPIN = rule("throttled"), rule("fetch_spin")


class Known:
    """A dataset that knows which clients are of which applications."""

    def __init__(self, *rows: tuple[str, str, str]) -> None:
        self.rows = [dict(zip(("client_id", "application", "software"), row, strict=True)) for row in rows]
        self.asked = 0

    def ask(self, _: str) -> list[dict[str, Any]]:
        self.asked += 1
        return self.rows


ETL = Known(
    *((f"connector-consumer-s3-{task}", "etl", "Kafka Connect") for task in range(3)), ("x-admin", "x", "Kafka Streams")
)


def row(who: str | None, first: int = 0, last: int = 9, **more: Any) -> dict[str, Any]:
    return {"who": who, "host": who and "10.0.0.1", "weight": 1, "first_time_ns": first, "last_time_ns": last, **more}


def told(known: Known, *rows: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(each.name, found) for each, found in of_applications(cast(Dataset, known), rows)]


def test_clients_of_one_application_are_one_finding_of_a_rule() -> None:
    found = told(
        ETL,
        (TINY, row("connector-consumer-s3-1", 5, 6, apis="Fetch")),
        (TINY, row("shop", apis="Fetch")),
        (TINY, row("connector-consumer-s3-0", 3, 8, apis="Fetch", principal="User:a")),
        (TINY, row("connector-consumer-s3-2", apis="Produce")),
        (SPIN, row("connector-consumer-s3-2", apis="Fetch")),
        (SPIN, row("x-admin", apis="Fetch")),
    )
    assert [(name, each["who"], each.get("application"), each.get("application_clients")) for name, each in found] == [
        ("throttled", "connector-consumer-s3-1", "etl", 2),
        ("throttled", "shop", None, None),
        ("throttled", "connector-consumer-s3-2", "etl", 1),
        ("fetch_spin", "connector-consumer-s3-2", "etl", 1),
        ("fetch_spin", "x-admin", "x", 1),
    ]
    assert (found[0][1]["first_time_ns"], found[0][1]["last_time_ns"]) == (3, 8)


def test_what_is_about_something_else_stays_a_finding_of_its_own() -> None:
    own, other = "connector-consumer-s3-1", "connector-consumer-s3-2"
    found = told(
        ETL,
        *((SPIN, row(own, topic="t", partition=number)) for number in (0, 1, 7)),
        (SPIN, row(other, topic="t", partition=7)),
        (SPIN, row(own, topic="t", group_id=None)),
        (SPIN, row(own, topic=None, group_id="t")),
    )
    assert [each["application_clients"] for _, each in found] == [1, 1, 2, 1, 1]


def test_two_findings_of_one_client_are_one_client() -> None:
    ((_, found),) = told(ETL, (SPIN, row("connector-consumer-s3-1")), (SPIN, row("connector-consumer-s3-1")))
    assert found["application_clients"] == 1


def test_nobody_is_asked_where_no_finding_is_about_a_client() -> None:
    known = Known()
    assert told(known, (TINY, row(None))) == [("throttled", row(None))]
    assert known.asked == 0


def test_the_sentence_names_the_application() -> None:
    own = {"application": "etl", "software": "Kafka Connect"}
    assert sentence("{who} waits", row("c-0") | own | {"application_clients": 1}) == "c-0 (Connect cluster etl) waits"
    worst = row("c-\x1b[1m") | own | {"application_clients": 1_234}
    assert sentence("{who} waits", worst) == r"c-\x1b[1m (Connect cluster etl, the worst of 1,234 clients) waits"
    assert sentence("{who} waits", row("c-0")) == "c-0 waits"
