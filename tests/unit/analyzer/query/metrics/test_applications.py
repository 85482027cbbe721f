"""Applications of many clients: what the client ids of real software tell, as this software makes them (`ConnectUtils` and `Worker`
of Kafka Connect, MirrorMaker 2, `ClientUtils` of Kafka Streams, the Kafka sources of Flink and Spark), and what they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_rows import connection, dataset, error, exchange
from paths import LAB, ROOT, SHARED

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.run import local

HOST, OTHER = "10.0.0.1", "10.0.0.2"
RUN = "c5f3b30e-7ffd-4550-990a-8a4101a7d875"
CONNECT = [
    "connect-cluster-configs",
    "connect-cluster-offsets",
    "connect-10.0.0.1:8083",
    "connector-producer-file-in-0",
]
FLOWS = [
    "west->east",
    "west-mm2-west->east-configs",
    "west-mm2-west->east-offsets",
    "connector-producer-MirrorSourceConnector-2",
]
# Address -> client ids -> application, connector and task of each; None: of none.
CASES: dict[str, tuple[dict[str, list[str]], dict[str, tuple[str | None, ...] | None]]] = {
    "connect": (
        {HOST: CONNECT},
        {
            "connect-cluster-configs": ("connect-cluster", None, None),
            "connect-10.0.0.1:8083": ("connect-cluster", None, None),
            "connector-producer-file-in-0": ("connect-cluster", "file-in", "0"),
        },
    ),
    "connectors without their worker": (
        {HOST: ["connector-consumer-to-s3-11"], OTHER: CONNECT},
        {"connector-consumer-to-s3-11": ("to-s3", "to-s3", "11")},
    ),
    "two workers' groups on a host": (
        {HOST: [*CONNECT, "second-configs", "second-statuses"]},
        {"second-configs": ("second", None, None), "connector-producer-file-in-0": ("file-in", "file-in", "0")},
    ),
    "mirror": (
        {HOST: [*FLOWS, "east->west", "west->east|MirrorSourceConnector-3|replication-consumer"]},
        {
            "west->east": ("east->west, west->east", None, None),
            "west-mm2-west->east-configs": ("east->west, west->east", None, None),
            "connector-producer-MirrorSourceConnector-2": ("east->west, west->east", "MirrorSourceConnector", "2"),
            "west->east|MirrorSourceConnector-3|replication-consumer": (
                "east->west, west->east",
                "MirrorSourceConnector",
                "3",
            ),
        },
    ),
    "mirror connectors in a Connect cluster": (
        {HOST: [*CONNECT, "a->b|copy|offset-syncs-source-admin"]},
        {"a->b|copy|offset-syncs-source-admin": ("connect-cluster", "copy", None)},
    ),
    "streams": (
        {
            HOST: [
                f"shop-{RUN}-StreamThread-1-consumer",
                f"shop-{RUN}-admin",
                f"shop-{RUN}-StreamThread-2-0_1-producer",
            ],
            OTHER: [
                "own-StreamThread-3-restore-consumer",
                "own-admin",
                f"shop-{RUN[::-1]}-StateUpdater-1-restore-consumer",
            ],
        },
        {
            f"shop-{RUN}-StreamThread-1-consumer": ("shop", None, "1"),
            f"shop-{RUN}-StreamThread-2-0_1-producer": ("shop", None, "2"),
            f"shop-{RUN}-admin": ("shop", None, None),
            "own-StreamThread-3-restore-consumer": ("own", None, "3"),
            "own-admin": ("own", None, None),
        },
    ),
    "stream processors": (
        {
            HOST: ["trades-enumerator-admin-client", "trades-enumerator-consumer", "KafkaSource--812345-3"],
            OTHER: ["trades-0", "trades-11", f"consumer-spark-kafka-source-{RUN}--1907-executor-2"],
        },
        {
            "trades-enumerator-consumer": ("trades", None, None),
            "trades-11": ("trades", None, "11"),
            "KafkaSource--812345-3": ("KafkaSource--812345", None, "3"),
            f"consumer-spark-kafka-source-{RUN}--1907-executor-2": (f"spark-kafka-source-{RUN}--1907", None, None),
        },
    ),
    "what stream processors write": (
        {
            HOST: ["trades-enumerator-admin-client", "trades-0", "producer-1", "producer-out-0-17"],
            "10.0.0.4": [f"consumer-spark-kafka-source-{RUN}-99-executor-1", "adminclient-1"],
            "10.0.0.5": ["trades-2", "producer-5", "orders-report"],
            OTHER: ["a-enumerator-consumer", "b-enumerator-consumer", "producer-1"],
            "10.0.0.3": ["trades-1", "producer-4", "own-StreamThread-3-consumer", "producer-shop-1-1"],
        },
        {"producer-out-0-17": ("trades", None, None), "b-enumerator-consumer": ("b", None, None), "producer-4": None}
        | {"producer-5": None, "adminclient-1": (f"spark-kafka-source-{RUN}-99", None, None)},
    ),
    "names that only look so": (
        {HOST: ["app-configs", "svc-admin", "orders-0", "a->b", "connect-1", "consumer-g-1", "adminclient-1"]},
        dict.fromkeys(["app-configs", "svc-admin", "orders-0", "a->b", "connect-1", "consumer-g-1", "adminclient-1"]),
    ),
}


def opened(tmp_path: Path, hosts: dict[str, list[str]], codes: Sequence[int] = (), **values: Any) -> Dataset:
    ids = [(host, name) for host, names in hosts.items() for name in names]
    links = [connection(n, client_address=host) for n, (host, _) in enumerate(ids)]
    rows = [
        exchange(n, connection=n, client_id=name, client_address=host, **values) for n, (host, name) in enumerate(ids)
    ]
    errors = [error(n, code) for n in range(len(ids)) for code in codes]
    return dataset(tmp_path, {"exchanges": rows, "connections": links, "errors": errors})


@pytest.mark.parametrize("name", CASES)
def test_client_ids_of_one_application(name: str, tmp_path: Path) -> None:
    hosts, truth = CASES[name]
    with opened(tmp_path, hosts) as found:
        rows = {row["client_id"]: row for row in found.metric("clients")}
    told = {each: tuple(rows[each][what] for what in ("application", "connector", "task")) for each in truth}
    assert told == {each: (None, None, None) if right is None else right for each, right in truth.items()}


def test_connections_and_latency_by_application(tmp_path: Path) -> None:
    with opened(tmp_path, {HOST: [*CONNECT, "shop"]}) as found:
        assert [row["application"] for row in found.metric("connections")].count("connect-cluster") == len(CONNECT)
        found.choose(Settings(("app",)))
        assert {row["application"]: row["count"] for row in found.metric("latency")} == {
            "connect-cluster": len(CONNECT),
            "shop": 1,
        }
        assert {row["application"] for row in found.metric("profile")} == {"connect-cluster", "shop"}


def test_errors_and_throttling_by_application(tmp_path: Path) -> None:
    with opened(tmp_path, {HOST: [*CONNECT, "shop"]}, [3], throttle_time_ms=1_000) as found:
        found.choose(Settings(("app",)))
        throttled = {row["application"]: row["throttled"] for row in found.metric("throttle")}
        failed = {row["application"]: row["count"] for row in found.metric("errors")}
    assert throttled == failed == {"connect-cluster": len(CONNECT), "shop": 1}


@pytest.mark.skipif(not LAB.exists(), reason="needs the captures of the lab")
@pytest.mark.parametrize(
    ("capture", "truth"),
    [
        ("lab/kafka44_connect", {("mill-connect", "Kafka Connect"): 7}),
        ("lab/kafka44_mm2", {("east->west, west->east", "MirrorMaker"): 18}),
        ("lab/kafka44_streams", {("mill-app", "Kafka Streams"): 10, ("mill-app-default", "Kafka Streams"): 5}),
        ("wild/connect_ok", {("connect-cluster", "Kafka Connect"): 8}),
    ],
)
def test_applications_of_real_software(capture: str, truth: dict[tuple[str, str], int]) -> None:
    with local.open_dataset([str(SHARED / "captures" / f"{capture}.pcap.zst")], Options()) as found:
        rows = found.query("SELECT application, software, count(*) AS clients FROM applications GROUP BY ALL")
    assert {(row["application"], row["software"]): row["clients"] for row in rows} == truth


@pytest.mark.slow
def test_a_job_of_flink_is_its_sources_and_its_sink() -> None:
    """Two jobs on hosts of their own, two tasks each; their prefix is the group, where none is set."""
    capture = ROOT / "tests" / "data" / "incidents" / "flink_day.pcap.zst"
    with local.open_dataset([str(capture)], Options()) as found:
        rows = found.query("SELECT software, application, client_id, task, inferred_from FROM applications")
    assert {(row["software"], row["application"]) for row in rows} == {("Flink", "click-copy"), ("Flink", "view-copy")}
    told = {row["client_id"]: (row["task"], row["inferred_from"]) for row in rows if row["application"] == "view-copy"}
    assert told == {
        **{f"view-copy-{task}": (task, "client id") for task in "01"},
        "view-copy-enumerator-admin-client": (None, "client id"),
        **dict.fromkeys(("producer-1", "producer-2"), (None, "host")),
    }


@pytest.mark.slow
def test_a_query_of_spark_is_its_executor_its_sink_and_its_driver() -> None:
    capture = ROOT / "tests" / "data" / "incidents" / "spark_day.pcap.zst"
    with local.open_dataset([str(capture)], Options()) as found:
        rows = found.query("SELECT software, application, client_address, client_id, inferred_from FROM applications")
    assert len({row["application"] for row in rows}) == len({row["client_address"] for row in rows}) == 2
    assert {row["software"] for row in rows} == {"Spark"}
    told = {(row["client_id"].removeprefix(f"consumer-{row['application']}-"), row["inferred_from"]) for row in rows}
    assert told == {
        *(("executor-1", "client id"), ("executor-2", "client id")),
        *(("producer-1", "host"), ("adminclient-1", "host")),
    }


def test_what_another_library_writes_is_of_nobody(tmp_path: Path) -> None:
    links = [
        connection(n, client_address=HOST, software_name="apache-kafka-java", software_version=version)
        for n, version in enumerate(("4.1.0", "3.9.1"))
    ]
    rows = [
        exchange(n, connection=n, client_id=name, client_address=HOST)
        for n, name in enumerate(("trades-enumerator-consumer", "producer-1"))
    ]
    with dataset(tmp_path, {"exchanges": rows, "connections": links}) as found:
        told = found.query("SELECT client_id FROM applications")
    assert [row["client_id"] for row in told] == ["trades-enumerator-consumer"]


@pytest.mark.slow
def test_a_group_is_of_the_application_of_all_its_clients() -> None:
    capture = ROOT / "tests" / "data" / "incidents" / "connect_start.pcap.zst"
    with local.open_dataset([str(capture)], Options()) as found:
        rows = found.query("SELECT group_id, of_application FROM group_applications")
    told = {row["group_id"]: row["of_application"] for row in rows}
    assert told == {"etl": "Kafka Connect", "connect-orders-out": "Kafka Connect etl"}
