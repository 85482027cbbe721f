"""Rows of tables from a lab broker's own request log, with times from the independent frame counter: a second account of
the same traffic, made without the code under test.
"""

from __future__ import annotations

import base64
import csv
import json
import struct
import subprocess
from pathlib import Path
from typing import Any

from made_rows import Rows, capture, connection, exchange

Log = dict[str, Any]
CLASSIC = {11: "join", 12: "heartbeat", 13: "leave", 14: "sync"}
BY_HEARTBEAT = {68: "consumer", 76: "share", 88: "streams"}
TRANSACTIONAL = {22: "init", 24: "add_partitions", 25: "add_offsets", 26: "end", 28: "commit_offsets"}


def _lines(path: Path) -> list[str]:
    return subprocess.run(["zstdcat", str(path)], check=True, capture_output=True, text=True).stdout.splitlines()


def read(shared: Path, name: str) -> list[Log]:
    """The broker's lines in order of time, each with `times` (request first and last byte, reply first and last, ns)."""
    folder = shared / "captures" / "lab"
    times: dict[tuple[str, int, int], list[int | None]] = {}
    for row in csv.DictReader(_lines(folder / f"{name}.exchanges.tsv.zst"), delimiter="\t"):
        columns = ("request_first_ns", "request_last_ns", "response_first_ns", "response_last_ns")
        key = (row["connection"], int(row["correlation_id"]), int(row["api_key"]))
        times[key] = [int(row[column]) if row[column] else None for column in columns]
    found = []
    for line in _lines(folder / f"{name}.requests.jsonl.zst"):
        log = json.loads(line)
        header = log["requestHeader"]
        where = log["connection"].rsplit("-", 2 if log["connection"].count("-") > 2 else 1)[0]
        log["times"] = times.get((where, header["correlationId"], header["requestApiKey"]))
        log["where"] = where
        if log["times"] and not log["isForwarded"]:
            found.append(log)
    return sorted(found, key=lambda log: log["times"][0])


def tables(logs: list[Log]) -> dict[str, Rows]:
    """captures, exchanges, connections, group_events, assignments and transaction_events as the broker tells them."""
    found: dict[str, Rows] = {name: [] for name in ("exchanges", "group_events", "assignments", "transaction_events")}
    links: dict[str, int] = {}
    epochs: dict[str, int] = {}
    for number, log in enumerate(logs):
        header, asked, told = log["requestHeader"], log["request"], log["response"] or {}
        key, times = header["requestApiKey"], log["times"]
        client = log["where"].partition("-")[2]
        base = {
            "exchange": number,
            "connection": links.setdefault(log["where"], len(links)),
            "time_ns": times[3] or times[1],
            "begin_ns": times[0],
            "client_id": header["clientId"],
            "client_address": client.rpartition(":")[0],
        }
        found["exchanges"].append(_exchange(number, base, log, client))
        if key in CLASSIC:
            found["group_events"] += _classic(base, key, asked, told)
            found["assignments"] += _classic_assignment(base, key, asked, told)
        elif key in BY_HEARTBEAT:
            found["group_events"] += _by_heartbeat(base, key, asked, told, epochs)
            found["assignments"] += _target_assignment(base, key, asked, told)
        elif key in TRANSACTIONAL:
            found["transaction_events"] += _transaction(base, key, asked, told)
    moments = [moment for log in logs for moment in log["times"] if moment]
    files = [capture(first_time_ns=min(moments), last_time_ns=max(moments))]
    return found | {"captures": files, "connections": [connection(number) for number in links.values()]}


def _exchange(number: int, base: Log, log: Log, client: str) -> Log:
    header, asked, told = log["requestHeader"], log["request"], log["response"] or {}
    first, last, answered, ended = log["times"]
    codes = _codes(told)
    row = exchange(
        number,
        connection=base["connection"],
        client_address=client.rpartition(":")[0],
        client_port=int(client.rpartition(":")[2]),
        api_key=header["requestApiKey"],
        api_name=header["requestApiKeyName"],
        api_version=header["requestApiVersion"],
        client_id=header["clientId"],
        at_ns=first,
        group_id=asked.get("groupId"),
        member_id=asked.get("memberId") or told.get("memberId"),
        transactional_id=asked.get("transactionalId", asked.get("v3AndBelowTransactionalId")),
        replica_id=asked.get("replicaState", {}).get("replicaId", asked.get("replicaId"))
        if "maxWaitMs" in asked
        else None,
        error_code=next((code for code in codes if code), 0),
        error_count=sum(1 for code in codes if code),
    )
    return row | {"request_end_ns": last, "response_time_ns": answered, "response_end_ns": ended}


def _codes(value: Any) -> list[int]:
    if isinstance(value, dict):
        own = [code for name, code in value.items() if name in ("errorCode", "partitionErrorCode")]
        return own + [code for inner in value.values() for code in _codes(inner)]
    return [code for inner in value for code in _codes(inner)] if isinstance(value, list) else []


def _event(base: Log, kind: str, event: str, **values: Any) -> Log:
    return base | {"group_type": kind, "event": event} | values


def _classic(base: Log, key: int, asked: Log, told: Log) -> Rows:
    event, code = CLASSIC[key], told.get("errorCode")
    if event == "heartbeat" and not code:
        return []
    common = {"group_id": asked["groupId"], "error_code": code}
    if event == "leave":
        members = asked.get("members") or [{"memberId": asked.get("memberId")}]
        return [
            _event(
                base,
                "classic",
                event,
                member_id=member["memberId"] or None,
                instance_id=member.get("groupInstanceId"),
                reason=member.get("reason"),
                **common,
            )
            for member in members
        ]
    values: Log = {"member_id": told.get("memberId") or asked["memberId"], "instance_id": asked.get("groupInstanceId")}
    if event == "join":
        values |= {"generation": told["generationId"] if told["generationId"] >= 0 else None}
        values |= {
            "leader": told["leader"],
            "members": len(told["members"]) or None,
            "reason": asked.get("reason") or None,
        }
        values |= {"protocol": told["protocolName"] or asked["protocols"][0]["name"]}
        values |= {"session_timeout_ms": asked["sessionTimeoutMs"]}
    else:
        values |= {"sent_generation": asked["generationId"]}
    return [_event(base, "classic", event, **common, **values)]


def _classic_assignment(base: Log, key: int, asked: Log, told: Log) -> Rows:
    if key != 14 or told.get("errorCode") or not told.get("assignment"):
        return []
    held = _partitions(base64.b64decode(told["assignment"]))
    common = {name: base[name] for name in ("exchange", "connection", "time_ns", "client_id", "client_address")}
    common |= {"group_id": asked["groupId"], "group_type": "classic", "member_id": asked["memberId"]}
    return [common | {"generation": asked["generationId"], "topic": topic, "partition": at} for topic, at in held]


def _partitions(data: bytes) -> list[tuple[str, int]]:
    """ConsumerProtocolAssignment: version, then topics with their partitions."""
    place, found = 6, []
    for _ in range(struct.unpack_from(">i", data, 2)[0] if len(data) >= 6 else 0):
        length = struct.unpack_from(">h", data, place)[0]
        topic = data[place + 2 : place + 2 + length].decode()
        place += 2 + length
        count = struct.unpack_from(">i", data, place)[0]
        found += [(topic, at) for at in struct.unpack_from(f">{count}i", data, place + 4)]
        place += 4 + 4 * count
    return found


def _by_heartbeat(base: Log, key: int, asked: Log, told: Log, epochs: dict[str, int]) -> Rows:
    sent, assigned = asked["memberEpoch"], told.get("assignment")
    event = "join" if sent == 0 else "leave" if sent < 0 else "heartbeat"
    member = told.get("memberId") or asked["memberId"]
    epoch = told.get("memberEpoch")
    new = event != "heartbeat" or assigned is not None or told["errorCode"] or epochs.get(member) != epoch
    epochs[member] = epoch
    if not new:
        return []
    values = {"group_id": asked["groupId"], "member_id": member, "instance_id": asked.get("instanceId")}
    values |= {"generation": epoch, "sent_generation": sent, "error_code": told["errorCode"]}
    if assigned is not None:
        values["assigned_partitions"] = sum(len(topic["partitions"]) for topic in assigned["topicPartitions"])
    return [_event(base, BY_HEARTBEAT[key], event, **values)]


def _target_assignment(base: Log, key: int, asked: Log, told: Log) -> Rows:
    topics = (told.get("assignment") or {}).get("topicPartitions", [])
    common = {name: base[name] for name in ("exchange", "connection", "time_ns", "client_id", "client_address")}
    common |= {"group_id": asked["groupId"], "group_type": BY_HEARTBEAT[key], "generation": told.get("memberEpoch")}
    common |= {"member_id": told.get("memberId") or asked["memberId"]}
    return [common | {"topic_id": each["topicId"], "partition": at} for each in topics for at in each["partitions"]]


def _transaction(base: Log, key: int, asked: Log, told: Log) -> Rows:
    if "transactions" in asked:
        return []  # AddPartitionsToTxn from v4 on: brokers ask each other
    asked = {name[0].lower() + name[1:]: value for name, value in _plain(asked)}
    codes = _codes(told)
    values = {"transactional_id": asked.get("transactionalId"), "error_code": next((code for code in codes if code), 0)}
    source = told if key == 22 else asked
    values |= {"producer_id": source.get("producerId"), "producer_epoch": source.get("producerEpoch")}
    if key == 26:
        values |= {"committed": asked["committed"], "new_producer_epoch": told.get("producerEpoch")}
    if key == 22:
        values |= {"transaction_timeout_ms": asked.get("transactionTimeoutMs")}
    return [base | {"event": TRANSACTIONAL[key], "group_id": asked.get("groupId")} | values]


def _plain(asked: Log) -> list[tuple[str, Any]]:
    return [(name.removeprefix("v3AndBelow"), value) for name, value in asked.items()]
