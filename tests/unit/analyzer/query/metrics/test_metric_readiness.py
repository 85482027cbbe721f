"""Readiness: the facts against Apache's own version lists, the verdicts against made rows and against lab clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import broker_log
import kafka_reference
import pytest
from made_rows import Rows, connection, dataset, exchange

from analyzer.query.questions import RELEASES
from dissectors.kafka.schema import lookup

# Of these Apache's own lists are there: "4.3" is judged by those of 4.3.1.
LISTED = {ours: name for ours in RELEASES for name in kafka_reference.RELEASES if name.startswith(f"{ours}.")}


def offers(number: int = 90, link: int = 1, **ranges: tuple[int, int]) -> Rows:
    keys = {"Produce": 0, "Fetch": 1, "JoinGroup": 11, "Metadata": 3}
    made = {"exchange": number, "connection": link, "time_ns": 1}
    return [
        made | {"api_key": keys[api], "min_version": low, "max_version": high} for api, (low, high) in ranges.items()
    ]


def verdicts(
    folder: Path, rows: Rows, release: str = RELEASES[-1], **tables: Rows
) -> dict[Any, tuple[str, str, str | None]]:
    """(client id, API, version) -> verdict, reason, cure."""
    with dataset(folder, {"exchanges": rows, "connections": [connection(1)]} | tables) as opened:
        found = [row for row in opened.metric("readiness") if row["release"] == release]
    return {
        (row["client_id"], row["api_name"], row["api_version"]): (row["verdict"], row["reason"], row["cure"])
        for row in found
    }


def produce(number: int, version: int, **values: Any) -> dict[str, Any]:
    return exchange(number, api_key=0, api_name="Produce", api_version=version, **values)


def asks(number: int, **values: Any) -> dict[str, Any]:
    return exchange(number, api_key=18, api_name="ApiVersions", api_version=0, **values)


def test_facts_of_both_ends_are_those_of_apaches_lists(tmp_path: Path) -> None:
    with dataset(tmp_path, {}) as opened:
        found = {(row["release"], row["api_key"]): row for row in opened.query("SELECT * FROM release_support")}
    assert len(LISTED) == len(kafka_reference.RELEASES)
    for key, name in lookup.api_names():
        had = False
        for release, listed in LISTED.items():
            row, fact = kafka_reference.api_keys(listed).get(key), found.get((release, key))
            had |= row is not None
            if row is None:
                assert fact and fact["oldest"] == 32767 if had else fact is None, name
                continue
            unstable = row["latest_unstable"] == "true"
            if unstable and release == "3.9":
                assert fact is None, name
                continue
            assert fact is not None
            assert (fact["oldest"], fact["accepted_to"]) == (int(row["first"]), int(row["last"]) - unstable), name
            assert fact["refused_from"] == int(row["last"]) + 1


def test_every_fact_has_a_source_and_what_lies_between_two_releases_contradicts_neither(tmp_path: Path) -> None:
    with dataset(tmp_path, {}) as opened:
        found = opened.query("SELECT * FROM release_support")
    facts = {(row["release"], row["api_key"]): row for row in found}
    assert len(facts) == len(found)
    assert all(row["source"] for row in found)
    for (release, key), row in facts.items():
        newest, oldest = facts.get(("4.3", key)), facts.get(("3.9", key))
        if release in RELEASES[1:5] and newest and row["refused_from"] is not None:
            assert row["refused_from"] <= newest["refused_from"]
        if release in RELEASES[1:5] and oldest and row["accepted_to"] is not None:
            assert row["accepted_to"] >= oldest["accepted_to"]


def test_join_group_v1_was_missing_in_4_0_0_only(tmp_path: Path) -> None:
    rows = [asks(1), exchange(2, api_key=11, api_name="JoinGroup", api_version=1)]
    offered = offers(JoinGroup=(0, 9))
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "offered_versions": offered}) as opened:
        found = {row["release"]: row["verdict"] for row in opened.metric("readiness") if row["api_key"] == 11}
    fine = "fine_as_far_as_seen"
    assert found == {release: "breaks" if release == "4.0.0" else fine for release in RELEASES}


def test_a_gone_version_breaks_when_newer_ones_were_offered(tmp_path: Path) -> None:
    found = verdicts(tmp_path, [asks(1), produce(2, 2)], offered_versions=offers(Produce=(0, 9), Fetch=(0, 12)))
    assert found["app", "Produce", 2] == ("breaks", "newer_was_offered", "upgrade")


def test_software_that_tells_its_name_is_newer_than_its_protocol(tmp_path: Path) -> None:
    links = [connection(1, software_name="sarama", software_version="v1.61.1")]
    tables = {"connections": links, "offered_versions": offers(Produce=(0, 9), Fetch=(0, 12))}
    found = verdicts(tmp_path, [asks(1), produce(2, 2)], **tables)
    assert found["app", "Produce", 2] == ("breaks", "newer_was_offered", "configure")


def test_librdkafka_that_asks_has_nothing_newer_to_be_set_to(tmp_path: Path) -> None:
    """Before 1.8.2 it has ListOffsets v0 alone; its settings count only where it does not ask."""
    tables = {
        "connections": [connection(1, software_name="confluent-kafka-python", software_version="1.5.0-rdkafka-1.5.0")],
        "offered_versions": offers(Produce=(0, 9), Fetch=(0, 12)),
    }
    found = verdicts(tmp_path, [asks(1), produce(2, 2)], **tables)
    assert found["app", "Produce", 2] == ("breaks", "newer_was_offered", "upgrade")


def test_a_client_that_never_asks_breaks(tmp_path: Path) -> None:
    assert verdicts(tmp_path, [produce(2, 2)])["app", "Produce", 2] == ("breaks", "never_asks", "upgrade")


def test_a_connection_begun_before_the_capture_may_have_asked(tmp_path: Path) -> None:
    found = verdicts(tmp_path, [produce(2, 2)], connections=[connection(1, seen_from="midstream")])
    assert found["app", "Produce", 2] == ("undetermined", "offer_not_seen", None)


def test_an_old_broker_leaves_it_undetermined_but_for_java(tmp_path: Path) -> None:
    old = offers(Produce=(0, 2), Fetch=(0, 3))
    found = verdicts(tmp_path / "a", [asks(1), produce(2, 2)], offered_versions=old)
    assert found["app", "Produce", 2] == ("undetermined", "nothing_newer_offered", None)
    java = [connection(1, software_name="apache-kafka-java", software_version="3.9.1")]
    found = verdicts(tmp_path / "b", [asks(1), produce(2, 2)], offered_versions=old, connections=java)
    assert found["app", "Produce", 2] == ("fine_as_far_as_seen", "java_speaks_newer", None)


def test_a_client_that_speaks_newer_elsewhere_is_fine(tmp_path: Path) -> None:
    links = [connection(1), connection(2, broker_address="10.0.1.2")]
    rows = [asks(1), produce(2, 2), asks(3, connection=2), produce(4, 9, connection=2)]
    old, new = offers(Produce=(0, 2), Fetch=(0, 3)), offers(91, 2, Produce=(0, 9), Fetch=(0, 12))
    found = verdicts(tmp_path, rows, connections=links, offered_versions=old + new)
    assert found["app", "Produce", 2] == ("fine_as_far_as_seen", "speaks_newer", None)


def test_produce_v2_to_a_4_x_broker_fails_though_it_is_offered(tmp_path: Path) -> None:
    rows = [asks(1), produce(2, 2, status="no_reply_expected")]
    found = verdicts(tmp_path, rows, offered_versions=offers(Produce=(0, 13), Fetch=(4, 18)))
    assert found["app", "Produce", 2][:2] == ("already_failing", "refused")


def test_an_unsupported_version_that_the_broker_closes_on_is_failing(tmp_path: Path) -> None:
    rows = [asks(1), exchange(2, api_version=3, status="closed"), exchange(3, client_id="b", api_version=3)]
    found = verdicts(tmp_path, rows, offered_versions=offers(Metadata=(4, 12)))
    assert found["app", "Metadata", 3][:2] == ("already_failing", "refused")
    assert found["b", "Metadata", 3][0] == "fine_as_far_as_seen"


def test_versions_that_are_not_known_of_a_release_get_no_verdict(tmp_path: Path) -> None:
    row = exchange(2, api_key=88, api_name="StreamsGroupHeartbeat", api_version=0)
    assert verdicts(tmp_path / "a", [row], "4.1")["app", "StreamsGroupHeartbeat", 0][0] == "unknown"
    assert verdicts(tmp_path / "b", [row], "4.3")["app", "StreamsGroupHeartbeat", 0][0] == "fine_as_far_as_seen"


def test_traffic_between_brokers_gets_a_note_and_no_verdict(tmp_path: Path) -> None:
    rows = [
        exchange(1, api_key=6, api_name="UpdateMetadata", api_version=4),
        exchange(2, api_key=1, api_name="Fetch", api_version=3, connection=2),
        exchange(3, api_key=1, api_name="Fetch", api_version=12, connection=2),
    ]
    found = verdicts(tmp_path, rows, connections=[connection(1), connection(2, role="follower")])
    notes = ("upgrade_note", "between_brokers", None)
    assert found == {("app", "UpdateMetadata", 4): notes, ("app", "Fetch", 3): notes}


@pytest.mark.parametrize("name", ["old_java", "old_others", "versions"])
def test_lab_clients_are_fine_exactly_when_apache_still_has_what_they_use(
    name: str, shared: Path, tmp_path: Path
) -> None:
    logs = broker_log.read(shared, name)
    newest = kafka_reference.api_keys(kafka_reference.RELEASES[-1])
    gone = set()
    for log in logs:
        header = log["requestHeader"]
        if header["requestApiVersion"] < int(newest[header["requestApiKey"]]["first"]):
            gone.add((header["clientId"], header["requestApiKey"], header["requestApiVersion"]))
    with dataset(tmp_path, broker_log.tables(logs)) as opened:
        rows = [row for row in opened.metric("readiness") if row["release"] == RELEASES[-1]]
    bad = {
        (row["client_id"], row["api_key"], row["api_version"])
        for row in rows
        if row["verdict"] != "fine_as_far_as_seen"
    }
    assert bad == gone
    assert bool(gone) == (name != "versions")
