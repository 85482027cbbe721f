"""What bodies tell (groups, transactions, logins, versions, topics) against the request logs of the lab's brokers."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import broker_log
import pytest
from managed_group_log import newer_group_event, redeliveries

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset

Row = dict[str, Any]
GROUPS = ("groups_classic", "groups_848", "groups_share", "groups_streams", "transactions", "cluster", "old_java")
SASL = ("sasl", "sasl_old", "sasl_token")
# Of GROUPS and others: brokers that log bodies in the names of the schemas.
TOLD = ("basics", "clients", "groups_848", "cluster", "versions", "sweep_43", "sweep_39", "two_clusters")


def files(shared: Path, name: str) -> list[str]:
    folder = shared / "captures" / "lab"
    found = [path for suffix in ("", ".[0-9][0-9]") for path in folder.glob(f"{name}{suffix}.pcap*")]
    return [str(path) for path in sorted(found)]


@cache
def dataset(shared: Path, name: str) -> Dataset:
    return open_dataset(files(shared, name), Options())


@cache
def log(shared: Path, name: str) -> list[Row]:
    return broker_log.read(shared, name)


def by_request(shared: Path, name: str, table: str) -> dict[tuple[int, int, int], list[Row]]:
    """Rows of a table by (client port, correlation id, first byte of the request)."""
    question = f"""SELECT t.*, x.client_port, x.correlation_id, x.request_time_ns
        FROM {table} AS t JOIN exchanges AS x ON x.exchange = t.exchange"""
    found = defaultdict(list)
    for row in dataset(shared, name).query(question):
        found[row["client_port"], row["correlation_id"], row["request_time_ns"]].append(row)
    return found


def place(line: Row) -> tuple[int, int, int]:
    return int(line["where"].rpartition(":")[2]), line["requestHeader"]["correlationId"], line["times"][0]


def positive(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


def group_events(line: Row) -> Iterator[Row]:
    """What the broker's log says that a request means for a group."""
    key, asked, told = line["requestHeader"]["requestApiKey"], line["request"], line["response"] or {}
    common = {"group_id": asked.get("groupId"), "group_type": "classic"}
    error = told.get("errorCode")
    if key == 11:
        subscription = base64.b64decode(asked["protocols"][0]["metadata"])
        yield common | {
            "event": "join",
            "member_id": told["memberId"] or asked["memberId"] or None,
            "instance_id": asked.get("groupInstanceId"),
            "generation": positive(told["generationId"]),
            "leader": told["leader"] or None,
            "members": len(told["members"]) or None,
            "protocol": told["protocolName"] or asked["protocols"][0]["name"],
            "reason": asked.get("reason") or None,
            "topics": ",".join(sorted(broker_log_topics(subscription)))
            if asked["protocolType"] == "consumer"
            else None,
            "session_timeout_ms": asked["sessionTimeoutMs"],
            "error_code": error,
        }
    elif key == 14:
        held = base64.b64decode(told["assignment"]) if error == 0 else b""
        yield common | {
            "event": "sync",
            "member_id": asked["memberId"],
            "instance_id": asked.get("groupInstanceId"),
            "generation": asked["generationId"],
            "sent_generation": asked["generationId"],
            "assigned_partitions": len(broker_log._partitions(held)) if error == 0 else None,
            "error_code": error,
        }
    elif key == 13:
        for index, member in enumerate(asked.get("members") or [asked]):
            answers = told.get("members") or []
            yield common | {
                "event": "leave",
                "member_id": member.get("memberId") or None,
                "instance_id": member.get("groupInstanceId"),
                "reason": member.get("reason") or None,
                "error_code": error or (answers[index]["errorCode"] if answers else error),
            }
    elif key == 12 and error:
        yield common | {
            "event": "heartbeat",
            "member_id": asked["memberId"],
            "instance_id": asked.get("groupInstanceId"),
            "sent_generation": asked["generationId"],
            "error_code": error,
        }
    elif key == 8:
        codes = [each["errorCode"] for topic in told["topics"] for each in topic["partitions"]]
        yield {
            "group_id": asked["groupId"],
            "event": "commit",
            "member_id": asked.get("memberId") or None,
            "sent_generation": positive(asked.get("generationIdOrMemberEpoch")),
            "error_code": next((code for code in codes if code), 0),
        }


def broker_log_topics(data: bytes) -> list[str]:
    """ConsumerProtocolSubscription: version, then topics."""
    found, at = [], 6
    for _ in range(int.from_bytes(data[2:6], "big")):
        size = int.from_bytes(data[at : at + 2], "big")
        found.append(data[at + 2 : at + 2 + size].decode())
        at += 2 + size
    return found


@pytest.mark.parametrize("name", (*GROUPS, "kafka44_clients", "kafka44_streams", "kafka44_failover"))
def test_every_step_of_a_group_is_an_event(shared: Path, name: str) -> None:
    rows = by_request(shared, name, "group_events")
    seen = 0
    for line in log(shared, name):
        key = line["requestHeader"]["requestApiKey"]
        found = rows.pop(place(line), [])
        if line["times"][2] is None:
            continue  # the broker died before its answer left
        if key in (68, 76, 88):
            newer = newer_group_event(line)
            wanted = [newer] if newer else []
        elif key == 78:
            wanted = list(redeliveries(line))
        else:
            wanted = list(group_events(line))
        said = [{column: row[column] for column in event} for event, row in zip(wanted, found, strict=False)]
        if key == 12:
            # A static member is told only where some body of it was read.
            for event in (*wanted, *said):
                event.pop("instance_id", None)
        assert said == wanted, line["requestHeader"]
        assert len(found) == len(wanted), line["requestHeader"]
        seen += len(wanted)
    assert seen
    # What the log does not have: requests at the edges of the capture, or never answered.
    assert sum(map(len, rows.values())) <= seen / 10


@pytest.mark.parametrize("name", ["groups_classic", "groups_848", "groups_share", "transactions", "cluster"])
def test_assignments_are_those_that_the_broker_sent(shared: Path, name: str) -> None:
    rows = by_request(shared, name, "assignments")
    seen = 0
    for line in log(shared, name):
        key, asked, told = line["requestHeader"]["requestApiKey"], line["request"], line["response"] or {}
        if key == 14 and not told["errorCode"]:
            wanted = set(broker_log._partitions(base64.b64decode(told["assignment"])))
            found = {(row["topic"], row["partition"]) for row in own(rows, line, asked["memberId"])}
        elif key in (68, 76) and not told["errorCode"] and told["assignment"]:
            topics = told["assignment"]["topicPartitions"]
            wanted = {(topic["topicId"], number) for topic in topics for number in topic["partitions"]}
            found = {(row["topic_id"], row["partition"]) for row in own(rows, line, told["memberId"])}
        else:
            continue
        assert found == wanted
        seen += len(wanted)
    assert seen


def own(rows: dict[tuple[int, int, int], list[Row]], line: Row, member: str) -> list[Row]:
    return [row for row in rows.get(place(line), []) if row["member_id"] == member]


def transaction_events(line: Row) -> Iterator[Row]:
    key, asked, told = line["requestHeader"]["requestApiKey"], line["request"], line["response"] or {}
    ids = {"transactional_id": asked.get("transactionalId")}
    ids |= {"producer_id": positive(asked.get("producerId")), "producer_epoch": positive(asked.get("producerEpoch"))}
    error = told.get("errorCode")
    if key == 22:
        if positive(told["producerId"]) is not None:
            ids |= {"producer_id": told["producerId"], "producer_epoch": told["producerEpoch"]}
        yield ids | {"event": "init", "error_code": error}
    elif key == 24 and "transactions" in asked and asked["transactions"]:
        answers = {each["transactionalId"]: each for each in told["resultsByTransaction"]}
        for each in asked["transactions"]:
            topics = answers[each["transactionalId"]]["topicResults"]
            codes = [at["partitionErrorCode"] for topic in topics for at in topic["resultsByPartition"]]
            yield {
                "event": "verify" if each["verifyOnly"] else "add_partitions",
                "transactional_id": each["transactionalId"],
                "producer_id": each["producerId"],
                "producer_epoch": each["producerEpoch"],
                "error_code": next((code for code in codes if code), 0),
            }
    elif key == 25:
        yield ids | {"event": "add_offsets", "group_id": asked["groupId"], "error_code": error}
    elif key == 26:
        epoch = positive(told.get("producerEpoch"))
        yield ids | {"event": "end", "committed": asked["committed"], "new_producer_epoch": epoch, "error_code": error}
    elif key == 28:
        yield ids | {"event": "commit_offsets", "group_id": asked["groupId"]}


@pytest.mark.parametrize("name", ["transactions", "cluster", "groups_848", "sweep_43"])
def test_every_request_about_a_transaction_is_an_event(shared: Path, name: str) -> None:
    rows = by_request(shared, name, "transaction_events")
    seen = 0
    for line in log(shared, name):
        if line["response"] is None:
            continue
        wanted = list(transaction_events(line))
        found = rows.get(place(line), [])
        if wanted:
            assert [{column: row[column] for column in wanted[0]} for row in found] == wanted, line["requestHeader"]
            seen += len(wanted)
    assert seen


@pytest.mark.parametrize("name", SASL)
def test_principals_are_those_that_the_broker_saw(shared: Path, name: str) -> None:
    """By connection; who could not log in has no line in the log."""
    question = """SELECT c.client_port, l.* FROM logins AS l JOIN connections AS c ON c.connection = l.connection"""
    succeeded, failed = defaultdict(set), set()
    for row in dataset(shared, name).query(question):
        if row["outcome"] == "ok":
            succeeded[row["client_port"]].add(row["principal"])
        else:
            failed.add(row["client_port"])
    wanted = defaultdict(set)
    for line in log(shared, name):
        if line["securityProtocol"].startswith("SASL"):
            wanted[int(line["where"].rpartition(":")[2])].add(line["principal"])
    assert wanted
    assert {port: succeeded[port] for port in wanted} == wanted
    assert not failed & wanted.keys()


def test_reauthentication_and_failures_are_told(shared: Path) -> None:
    rows = dataset(shared, "sasl").query("SELECT outcome, again, principal, claimed_user FROM logins")
    assert {row["principal"] for row in rows if row["again"]} == {"User:bob"}
    assert all(row["principal"] is None for row in rows if row["outcome"] == "failed")
    old = dataset(shared, "sasl_old").query("SELECT outcome, claimed_user FROM logins")
    assert {"zed", "nobody", "kim", "lee"} <= {row["claimed_user"] for row in old if row["outcome"] == "failed"}


def test_token_logins_have_the_owner_of_the_token(shared: Path) -> None:
    truth = json.loads((shared / "captures" / "lab" / "TRUTH.json").read_text())["sasl_token"]["delegation_tokens"]
    owners = {each["token_id"]: each["owner"] for each in truth}
    rows = dataset(shared, "sasl_token").query(
        "SELECT token_id, principal, claimed_user FROM logins WHERE token_id IS NOT NULL AND outcome = 'ok'"
    )
    assert rows
    assert all(row["principal"] == owners[row["token_id"]] for row in rows)
    assert all(row["claimed_user"] is None for row in rows)


def secrets_of(shared: Path, name: str) -> set[bytes]:
    """Passwords and tokens' secrets, raw, in base64 and in hex."""
    truth = json.loads((shared / "captures" / "lab" / "TRUTH.json").read_text())[name]
    raw = {b"admin-pw", b"alice-pw", b"bob-pw", b"dave-secret", b"erin-secret"}
    raw |= {each.encode() for each in truth.get("passwords", [])}
    raw |= {base64.b64decode(each["hmac"]) for each in truth.get("delegation_tokens", [])}
    found = set(raw)
    for each in raw:
        plain = base64.b64encode(each)
        found |= {plain, plain.rstrip(b"="), base64.urlsafe_b64encode(each).rstrip(b"="), each.hex().encode()}
    return found


@pytest.mark.parametrize("name", SASL)
def test_no_table_holds_a_secret(shared: Path, name: str) -> None:
    data = dataset(shared, name)
    raw = ("raw_login_steps", "raw_token_owners", "raw_envelopes")
    text = "".join(str(row) for table in (*TABLES, *raw) for row in data.query(f"SELECT * FROM {table}"))
    assert "User:" in text
    for secret in secrets_of(shared, name):
        assert secret not in text.encode("utf-8", "backslashreplace"), "a secret"


@pytest.mark.parametrize("name", ["basics", "versions", "sweep_43", "old_java"])
def test_offered_versions_are_the_bodies(shared: Path, name: str) -> None:
    rows = by_request(shared, name, "offered_versions")
    seen = 0
    for line in log(shared, name):
        if line["requestHeader"]["requestApiKey"] != 18:
            continue
        keys = line["response"]["apiKeys"]
        wanted = {(each["apiKey"], each["minVersion"], each["maxVersion"]) for each in keys}
        found = {(row["api_key"], row["min_version"], row["max_version"]) for row in rows.get(place(line), [])}
        assert found == wanted
        seen += bool(wanted)
    assert seen


def told_by(line: Row) -> tuple[set[tuple[str, str]], set[tuple[int, str, int]]]:
    """Topic ids with names, and nodes with addresses, in the body of a logged reply."""
    key, told = line["requestHeader"]["requestApiKey"], line["response"] or {}
    topics = told.get("topics") or [] if key in (3, 19, 75) else []
    ids = {(each["topicId"], each["name"]) for each in topics if each.get("topicId") and each["name"]}
    nodes = told.get("brokers") or [] if key in (3, 60) else []
    brokers = {(each.get("nodeId", each.get("brokerId")), each["host"], each["port"]) for each in nodes}
    zero = "A" * 22
    return {(topic_id, topic) for topic_id, topic in ids if topic_id != zero}, brokers


@pytest.mark.parametrize("name", (*TOLD, "kafka44_clients"))
def test_topic_ids_and_brokers_are_those_that_replies_name(shared: Path, name: str) -> None:
    wanted_ids, wanted_brokers = set(), set()
    for line in log(shared, name):
        ids, brokers = told_by(line)
        wanted_ids |= ids
        wanted_brokers |= brokers
    data = dataset(shared, name)
    ids = {(row["topic_id"], row["topic"]) for row in data.query("SELECT topic_id, topic FROM topic_ids")}
    brokers = {(row["broker_id"], row["host"], row["port"]) for row in data.query("SELECT * FROM brokers")}
    assert wanted_ids <= ids
    assert wanted_brokers <= brokers
    assert ids or name == "sweep_39"
    assert wanted_brokers


def test_two_clusters_keep_their_ids_apart(shared: Path) -> None:
    truth = json.loads((shared / "captures" / "lab" / "TRUTH.json").read_text())["two_clusters"]["clusters"]
    rows = dataset(shared, "two_clusters").query("SELECT cluster, broker_id, port FROM brokers")
    ports = {(row["cluster"], row["port"]) for row in rows}
    assert {(each["cluster_id"], each["port"]) for each in truth.values()} <= ports
    assert {row["cluster"] for row in rows} == {each["cluster_id"] for each in truth.values()}


def test_an_envelope_tells_of_the_request_inside(shared: Path) -> None:
    """The log has the client's own line, under the connection of the envelope."""
    rows = dataset(shared, "groups_classic").query(
        "SELECT inner_api_key, inner_client_id FROM exchanges WHERE api_key = 58 ORDER BY request_time_ns"
    )
    lines = broker_log._lines(shared / "captures" / "lab" / "groups_classic.requests.jsonl.zst")
    forwarded = [line["requestHeader"] for line in map(json.loads, lines) if line["isForwarded"]]
    wanted = sorted((header["requestApiKey"], header["clientId"]) for header in forwarded)
    assert wanted
    assert sorted((row["inner_api_key"], row["inner_client_id"]) for row in rows) == wanted


def test_connections_name_the_users_of_failed_logins(shared: Path) -> None:
    rows = dataset(shared, "sasl_old").query(
        "SELECT claimed_user, principal FROM connections WHERE claimed_user IS NOT NULL"
    )
    assert {"zed", "nobody"} <= {row["claimed_user"] for row in rows}
    assert {row["claimed_user"] for row in rows} <= {"kim", "lee", "max", "zed", "nobody"}
    assert all(row["principal"] is None for row in rows)


@pytest.mark.parametrize("name", ["cluster", "groups_848", "broker_28"])
def test_racks_are_those_that_brokers_were_told(shared: Path, name: str) -> None:
    """Fetches with a rack and without one, and heartbeats that name none."""
    question = (
        "SELECT client_port, correlation_id, request_time_ns, rack_id FROM exchanges WHERE request_decoded = 'full'"
    )
    found = {tuple(row.values())[:3]: row["rack_id"] for row in dataset(shared, name).query(question)}
    told = {place(line): line["request"].get("rackId") for line in log(shared, name)}
    wrong = {where: (rack, found.get(where)) for where, rack in told.items() if found.get(where) != rack}
    assert not wrong
    assert {rack for rack in told.values() if rack is not None} == ({"", "r1"} if name == "cluster" else {""})
