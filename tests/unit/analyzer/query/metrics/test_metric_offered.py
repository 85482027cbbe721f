"""What brokers offer beyond the newest release that is known, and nothing that any release has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_rows import START_NS, connection, dataset, exchange

from analyzer.query.metrics import data_rows
from analyzer.report import beyond
from dissectors.kafka.schema import lookup

NEWEST = data_rows("kafka_releases")[-1][0]
FETCH = 18


def told(tmp_path: Path, *offers: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Offers: connection (each to a broker of its own), API key, newest version."""
    rows = [
        {
            "exchange": link,
            "connection": link,
            "time_ns": START_NS,
            "api_key": key,
            "min_version": 0,
            "max_version": last,
        }
        for link, key, last in offers
    ]
    links = [connection(link, broker_port=9092 + link) for link in {link for link, _, _ in offers}]
    asked = [exchange(link, connection=link) for link in {link for link, _, _ in offers}]
    with dataset(tmp_path, {"offered_versions": rows, "connections": links, "exchanges": asked}) as made:
        return made.metric("offered_beyond")


def test_what_is_defined_is_known(tmp_path: Path) -> None:
    """Every version that can be read, of APIs that are gone too."""
    every = [lookup.api(key) for key, _ in lookup.api_names()]
    assert told(tmp_path, *((1, api.key, api.versions.last) for api in every if api is not None)) == []


def test_a_newer_version_and_an_unknown_key_are_told(tmp_path: Path) -> None:
    rows = told(tmp_path, (1, 1, FETCH + 1), (2, 1, FETCH + 2), (1, 95, 0), (1, 0, 3))
    found = [
        (row["api_key"], row["api_name"], row["known_version"], row["max_version"], row["brokers"]) for row in rows
    ]
    assert found == [(1, "Fetch", FETCH, FETCH + 2, 2), (95, None, None, 0, 1)]
    assert beyond.sentence(rows) == (
        f"2 brokers offer more than Kafka {NEWEST}, the newest release that kanalyze knows: Fetch v{FETCH + 2}, key 95."
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    (
        ({"api_key": 18, "api_version": 6}, [("ApiVersions", 6)]),
        ({"api_key": 95, "api_version": 0}, [(None, 0)]),
        ({"api_key": 18, "api_version": 6, "error_code": 35}, []),
        ({"api_key": 18, "api_version": 6, "status": "closed"}, []),
        ({"api_key": 18, "api_version": 5}, []),
    ),
)
def test_what_is_answered_is_there_though_the_offer_cannot_be_read(
    asked: dict[str, Any], told: list[tuple[str | None, int]], tmp_path: Path
) -> None:
    rows = [exchange(1, **asked) | {"response_decoded": "unsupported"}]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}) as made:
        assert [(row["api_name"], row["max_version"]) for row in made.metric("offered_beyond")] == told


@pytest.mark.parametrize(("keys", "end"), ((6, "key 1004, key 1005."), (1_000, "key 1004, key 1005 and 994 more.")))
def test_of_many_some_are_named(keys: int, end: str, tmp_path: Path) -> None:
    words = beyond.sentence(told(tmp_path, *((1, 1_000 + n, 0) for n in range(keys))))
    assert words.startswith("10.0.1.1:9093 offers more than Kafka ") and words.endswith(end)


def test_of_nothing_there_is_no_line() -> None:
    assert beyond.sentence([]) == ""


@pytest.mark.parametrize(
    ("cluster", "host", "said"),
    [
        ("redpanda.1d2c", "10.0.0.1", "Brokers: Redpanda (inferred from the cluster id redpanda.1d2c)."),
        (
            "AAAAAAAAAAAAAAAAAAAADQ",
            "B-1.Shop.c2.Kafka.us-east-1.amazonaws.com",
            "Brokers: Amazon MSK (inferred from the host name b-1.shop.c2.kafka.us-east-1.amazonaws.com).",
        ),
        ("lkc-1", "b0.confluent.cloud", "Brokers: Confluent Cloud (inferred from the cluster id lkc-1)."),
        ("kfaker", "kafka.amazonaws.com.example", ""),
        ("10.0.0.1:9092", "10.0.0.1", ""),
    ],
)
def test_others_brokers_are_named_by_their_names(cluster: str, host: str, said: str, tmp_path: Path) -> None:
    rows = [{"cluster": cluster, "broker_id": 1, "host": host, "port": 9092}]
    with dataset(tmp_path, {"brokers": rows}) as made:
        assert beyond.software(made.metric("broker_software")) == said


@pytest.mark.parametrize(("is_kafka", "port", "is_told"), [(True, 443, True), (False, 9092, True), (False, 443, False)])
def test_a_host_of_a_cloud_is_a_broker_where_kafka_is(is_kafka: bool, port: int, is_told: bool, tmp_path: Path) -> None:
    """HTTPS to a cloud, beside brokers of one's own."""
    asked = {"tls": True, "protocol": "tls", "tls_server_name": "psrc-1.us-east-2.aws.confluent.cloud"}
    links = [connection(1), connection(2, is_kafka=is_kafka, broker_port=port, **asked)]
    with dataset(tmp_path, {"connections": links}) as made:
        assert bool(made.metric("broker_software")) is is_told
