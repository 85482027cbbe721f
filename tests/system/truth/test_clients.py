"""Clients that few people use, or use no longer, beside real brokers (tests/data/clients): what must be said of them, and what not.

What happened is what each client's own log and its broker said at the time: with Kafka 4.3 afkak, no-kafka and Rust's kafka send
Produce requests of versions that are gone, kafka-node a CreateTopics of such a version; no-kafka names no assignor in JoinGroup, at
which any broker closes the connection; optiopay writes FindCoordinator v1 without its last field, with the same end, and closes its
own side seconds later; all else was answered.
"""

from __future__ import annotations

import pytest
from paths import ROOT

import analyzer

FOLDER = ROOT / "tests" / "data" / "clients"
# Capture -> the rules of its findings that are high or medium, in their order; the library of its client.
TOLD: dict[str, tuple[list[str], str | None]] = {
    # Tansu reads ApiVersions v5 as v3: where a request names a cluster, it fails and ends the connection. The broker's log says so.
    "java44_at_tansu": (["hung_up_at_once"], "apache-kafka-java"),
    # A program that opens and closes twelve consumers: each leaves a request behind, which is no failure.
    # Tansu answers a connection's requests one after the other, as Kafka does: FindCoordinator waits 500 ms behind a Fetch.
    "rdkafka_at_tansu": (["head_of_line", "connection_storm"], "confluent-kafka-python"),
    # Two brokers of 2.8.2 with ZooKeeper, and its console producer: one broker is stopped in order, later the other one killed.
    "java28_at_zookeeper": (["broker_gone"], "apache-kafka-java"),
    # Two brokers of 0.8.2.2: console producers, old and new, SimpleConsumerShell, a consumer of ZooKeeper's time.
    "java08_at_zookeeper": (["breaks_on_4", "breaks_on_4", "breaks_on_4"], None),
    "brod_at_44": ([], "brod"),
    "kafka_ts_at_44": ([], "kafka-ts"),
    # A share consumer needs longer for a batch than its lock lasts: the same records are given again, and three acknowledgments
    # were refused, as its callback printed.
    "share_slow_at_44": (["share_redelivered"], "apache-kafka-java"),
    "ruby_kafka_at_39": (["breaks_on_4"], "ruby-kafka"),
    "afkak_at_39": (["breaks_on_4"], "afkak"),
    "afkak_at_43": (["already_failing"], "afkak"),
    "kafka_node_at_39": (["breaks_on_4"], "kafka-node"),
    "kafka_node_at_43": (["already_failing"], "kafka-node"),
    "kafka_rust_at_39": (["breaks_on_4"], None),  # kafka-python of its time asks for the same
    "kafka_rust_at_43": (["already_failing"], None),
    "lua_resty_kafka_at_39": (["breaks_on_4"], None),
    "lua_resty_kafka_at_43": (["already_failing"], None),
    "no_kafka_at_39": (["ends_connection", "breaks_on_4", "missing_topic"], "no-kafka"),
    "no_kafka_at_43": (["already_failing", "ends_connection"], "no-kafka"),
    "optiopay_at_39": (["breaks_on_4", "malformed"], None),
    "optiopay_at_43": (["already_failing", "malformed"], None),
    "platformatic_at_43": ([], "platformatic-kafka"),
    "pykafka_at_39": (["breaks_on_4"], "pykafka"),
    # It knows ListOffsets v0 alone, which Kafka 4 does not take: its consumer said "Required feature not supported by broker", and
    # asked nothing for 78 s.
    "rdkafka15_at_44": (["assigned_not_fetched"], "confluent-kafka-python"),
    # A topic that is not there, for a producer and a consumer: that one never joined, and leaves its group all the same.
    "rdkafka15_no_topic_at_44": (["missing_topic", "missing_topic"], "confluent-kafka-python"),
    "rdkafka15_at_39": (["breaks_on_4"], "confluent-kafka-python"),
    "rdkafka10_at_39": (["breaks_on_4"], "librdkafka"),
    # broker.version.fallback=0.9.0: kafka-python of that time asks for the same.
    "rdkafka_fallback_at_39": (["breaks_on_4"], None),
    # Behind a SOCKS proxy; the broker was killed, and the proxy goes on.
    "kafka_python30_socks_at_44": (["broker_gone"], "kafka-python"),
    "kafka_python20_at_44": ([], "kafka-python"),
    # Two consumers with one client id, of which one is killed; the other one has its partition 10 s later.
    "kafka_python_ng_killed_at_44": (["session_expired"], "kafka-python"),
    # Sarama, which asks for what Java's clients of 1.0 ask for, but for versions.
    "watermill_at_44": ([], None),
    # Behind Kroxylicious, which numbers requests anew and answers some itself. Its log is the broker's: nothing failed.
    "kroxylicious_at_44": ([], "kafka-python"),
    "kroxylicious_stopped_at_44": (["broker_gone"], "kafka-python"),
    # A producer that sends three times: few requests on each of the proxy's ports.
    "kroxylicious_tenant_at_44": (["broker_gone"], "apache-kafka-java"),
    # Its broker was killed: it answers ApiVersions with UNKNOWN_SERVER_ERROR then, and closes.
    "kroxylicious_no_broker_at_44": (["broker_gone"], "kafka-python"),
    # A consumer with group.protocol=consumer: five records were there, poll() returned none for 25 s, and no error.
    "rdkafka_848_at_39": (["never_joined"], "confluent-kafka-python"),
}


def test_each_capture_is_here() -> None:
    assert {path.name.removesuffix(".pcap.zst") for path in FOLDER.glob("*.pcap.zst")} == TOLD.keys()


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_of_a_client_is_what_happened(name: str) -> None:
    rules, library = TOLD[name]
    with analyzer.read(FOLDER / f"{name}.pcap.zst") as opened:
        found = [each.name for each in opened.findings if each.severity != "info"]
        libraries = {row["inferred_library"] or row["software_name"] for row in opened.metric("clients").to_pylist()}
    assert (found, libraries) == (rules, {library})


def test_requests_that_end_their_connection_are_counted_by_api() -> None:
    with analyzer.read(FOLDER / "no_kafka_at_39.pcap.zst") as opened:
        worst = opened.findings[0]
        closed = opened.sql(
            "SELECT count(*) AS n FROM exchanges WHERE api_name = 'JoinGroup' AND status = 'closed'"
        ).to_pylist()
    assert closed == [{"n": 19}]
    assert (
        worst.severity == "high"
        and "no-kafka-client fails: the broker closes its connection on each JoinGroup (19 requests)" in worst.sentence
    )


def test_a_broker_that_reads_a_request_and_hangs_up_has_no_limit() -> None:
    with analyzer.read(FOLDER / "java44_at_tansu.pcap.zst") as opened:
        (told,) = [each for each in opened.findings if each.severity != "info"]
        closed = opened.sql(
            "SELECT count(*) AS n FROM exchanges WHERE api_name = 'ApiVersions' AND status = 'closed'"
        ).to_pylist()
    assert closed == [{"n": 24}]
    assert told.sentence.startswith("127.0.0.1:9092 closes connections of console-consumer ")
    assert "after their first request (ApiVersions)" in told.sentence
    assert "24 times" in told.sentence and "it cannot read them" in told.do


def test_a_share_consumer_that_is_late_is_told_of_its_lock() -> None:
    with analyzer.read(FOLDER / "share_slow_at_44.pcap.zst") as opened:
        told = next(each for each in opened.findings if each.severity != "info")
    assert "share group g1 is given the same records of orders again and again, up to 4 times" in told.sentence
    (refused,) = told.symptoms
    assert "INVALID_RECORD_STATE, 3 times, topic orders, group g1" in refused.sentence
    assert "share.acquire.mode=record_limit" in told.do


def test_what_librdkafka_before_1_8_2_lacks_no_setting_gives_it() -> None:
    with analyzer.read(FOLDER / "rdkafka15_at_39.pcap.zst") as opened:
        cures = {
            (row["api_name"], row["cure"], row["setting"])
            for row in opened.metric("readiness").to_pylist()
            if row["cure"]
        }
    assert cures == {("ListOffsets", "upgrade", None)}
    with analyzer.read(FOLDER / "rdkafka15_at_44.pcap.zst") as opened:
        told = opened.findings[0]
    assert "is assigned topic ck, but has not fetched 2 partitions of it for 1 min 18 s" in told.sentence
    assert "librdkafka before 1.8.2" in told.do


def test_who_leaves_a_group_that_it_never_joined_did_not_fail() -> None:
    with analyzer.read(FOLDER / "rdkafka15_no_topic_at_44.pcap.zst") as opened:
        left = opened.sql(
            "SELECT e.name, e.expected, x.member_id FROM errors AS e JOIN exchanges AS x USING (exchange)"
            " WHERE x.api_name = 'LeaveGroup'"
        ).to_pylist()
    assert left == [{"name": "UNKNOWN_MEMBER_ID", "expected": True, "member_id": ""}]


def test_of_two_brokers_on_a_host_the_one_that_zookeepers_controller_let_go_was_stopped_in_order() -> None:
    with analyzer.read(FOLDER / "java28_at_zookeeper.pcap.zst") as opened:
        told = {each.severity: each.sentence for each in opened.findings}
    assert told["info"].startswith("broker 127.0.0.1:39192 became unavailable, stopped in order: ")
    # Its successor as the controller, once its session had ended, opened connections to itself: they are not its own.
    assert told["high"].startswith("broker 127.0.0.1:39092 became unavailable: ") and "came back" not in told["high"]


def test_a_broker_behind_a_proxy_is_the_one_that_is_gone() -> None:
    with analyzer.read(FOLDER / "kafka_python30_socks_at_44.pcap.zst") as opened:
        (told,) = opened.findings
    assert told.severity == "high" and told.sentence.startswith(
        "broker 127.0.0.1:39092, the only one of its cluster, became unavailable"
    )
    assert "refused_connections" in {each.name for each in told.symptoms}


def test_a_request_waits_until_its_broker_closes_the_connection() -> None:
    """The client of optiopay keeps its side open for 5 and for 20 s after the broker's FIN, which came within 20 ms."""
    with analyzer.read(FOLDER / "optiopay_at_39.pcap.zst") as opened:
        (row,) = opened.metric("unanswered").to_pylist()
        waits = [each["waited_ns"] for each in opened.metric("unanswered_list").to_pylist()]
        malformed = next(each for each in opened.findings if each.name == "malformed")
    assert (row["api_name"], row["closed"]) == ("FindCoordinator", 2)
    assert max(waits) == row["longest_closed_ns"] < 20_000_000
    assert malformed.sentence.endswith("; the broker closed the connection after 2 of them")
    assert [each.name for each in malformed.symptoms] == []


def test_what_a_proxy_numbers_anew_is_one_request() -> None:
    """The broker's log of that time has 69 requests of these clients; at one Fetch it still was."""
    with analyzer.read(FOLDER / "kroxylicious_at_44.pcap.zst") as opened:
        asked = opened.sql(
            "SELECT broker_port, count(*) AS n FROM exchanges WHERE request_time_ns IS NOT NULL GROUP BY ALL ORDER BY 1"
        ).to_pylist()
        carried = opened.sql("SELECT count(*) AS n FROM forwards").to_pylist()
        batches = opened.sql(
            "SELECT count(*) AS n FROM batches JOIN exchanges USING (exchange) WHERE api_name = 'Produce'"
        ).to_pylist()
    assert asked == [{"broker_port": 39292, "n": 4}, {"broker_port": 39294, "n": 66}]
    assert (carried, batches) == ([{"n": 70}], [{"n": 40}])


def test_few_requests_on_each_port_of_a_proxy_are_enough_together() -> None:
    """The broker's log has ten; the proxy answers four of a newer version itself."""
    with analyzer.read(FOLDER / "kroxylicious_tenant_at_44.pcap.zst") as opened:
        asked = opened.sql("SELECT count(*) AS n FROM exchanges WHERE broker_port <> 39093").to_pylist()
        carried = opened.sql("SELECT count(*) AS n FROM forwards").to_pylist()
        told = opened.findings[0].sentence
    assert (asked, carried) == ([{"n": 14}], [{"n": 10}])
    assert told.startswith("proxy 127.0.0.1:39292, before 127.0.0.1:39092, became unavailable")


def test_a_proxy_that_stops_is_called_a_proxy() -> None:
    with analyzer.read(FOLDER / "kroxylicious_stopped_at_44.pcap.zst") as opened:
        (told,) = (each for each in opened.findings if each.severity != "info")
    assert told.severity == "high" and told.sentence.startswith(
        "proxy 127.0.0.1:39294, before 127.0.0.1:39092, became unavailable: 9 connection attempts from 1 address failed"
    )
    assert told.sentence.endswith("and it came back 27.3 s later")
