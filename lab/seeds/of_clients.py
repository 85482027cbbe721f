"""Causes that lie in clients, or in what was set for them."""

from __future__ import annotations

import signal
import time
from typing import Any

from lab.clients import config, consume, payload, produce, running, said
from lab.javaclient import java_consume
from lab.namespaces import Host
from lab.pythonclient import python_produce
from lab.security import login
from lab.seeds.causes import Told, cause
from lab.seeds.scene import SECURE, Scene
from lab.tricks import (
    connect_for_each,
    consume_and_commit_each,
    consume_stubbornly,
    produce_in_transactions,
    produce_slowly_in_transactions,
    produce_stamped,
)
from lab.upkeep import delete_records

PATIENCE = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 1000}


def _feed(scene: Scene, per_s: float = 10) -> None:
    """Somebody writes to the topic that is read."""
    host = scene.shop.get(id(scene.lab)) or scene.host()
    scene.lab.start(host, produce, scene.lab.bootstrap, "feeder", scene.topic, per_s=per_s)


def _read(scene: Scene, partitions: int = 2) -> Host:
    scene.make(partitions=partitions)
    return scene.host()


@cause(2, 12)  # s
def login_refused(scene: Scene) -> Told:
    scene.make()
    host, port = scene.host(), f"{scene.broker.host.address}:{SECURE}"
    before = scene.broker.server_log().count("Failed authentication")
    with scene.captured(host), scene.lab.doing(f"{scene.name} logs in with a wrong password"):
        scene.lab.start(
            host,
            produce,
            port,
            scene.name,
            scene.topic,
            per_s=5,
            reconnect_backoff_max_ms=1000,
            **login("app", "wrong"),
        )
        time.sleep(scene.s)
    refused = scene.broker.server_log().count("Failed authentication") - before
    return Told(["authentication_failures"], [[*scene.who(host), "app"]], above=refused >= 5)


@cause(8, 14)  # s
def right_missing(scene: Scene) -> Told:
    """It may see the topic, perhaps, and not write or read."""
    scene.make()
    host, port = scene.host(), f"{scene.broker.host.address}:{SECURE}"
    writes, sees = scene.chance.random() < 0.5, scene.chance.random() < 0.5
    if sees:
        words = ("--add", "--allow-principal", "User:guest", "--operation", "Describe", "--topic", scene.topic)
        scene.lab.tool("kafka.admin.AclCommand", *words)
    with scene.captured(host):
        scene.lab.did(f"{scene.name}, user guest, may not {'write to' if writes else 'read'} {scene.topic}")
        if writes:
            scene.lab.start(host, produce, port, scene.name, scene.topic, per_s=5, **login("guest", "right"))
        else:
            scene.lab.start(host, consume, port, scene.name, scene.name, scene.topic, **login("guest", "right"))
        time.sleep(scene.s)
    return Told(["authorization"], [[*scene.who(host), "guest"]])


@cause(4, 80, least=0)  # times the quota
def quota_of_writes(scene: Scene) -> Told:
    scene.make()
    quota = ("--alter", "--add-config", "producer_byte_rate=20000", "--entity-type", "clients", "--entity-name")
    scene.lab.tool("kafka.admin.ConfigCommand", *quota, scene.name)
    host = scene.host()
    with scene.captured(host, lambda: scene.write(host, per_s=20 * scene.s / 4, size=2000, linger_ms=5)):
        time.sleep(14)
    return Told(["throttled"], [[scene.name]])


@cause(20, 400)  # kB/s
def quota_of_reads(scene: Scene) -> Told:
    """6 MB are to be read."""
    scene.make()
    scene.lab.fill(scene.topic, 6000, 1000)
    quota = ("--alter", "--add-config", f"consumer_byte_rate={scene.s * 1000:.0f}", "--entity-type", "clients")
    scene.lab.tool("kafka.admin.ConfigCommand", *quota, "--entity-name", scene.name)
    host = scene.host()
    with scene.captured(host):
        scene.read(host, auto_offset_reset="earliest")
        time.sleep(14)
    return Told(["throttled"], [[scene.name]])


@cause(1, 4)  # records a second
def record_too_large(scene: Scene) -> Told:
    of_topic = scene.chance.random() < 0.5
    size = 60_000 if of_topic else 1_400_000
    limit: dict[str, Any] = {"max_message_bytes": 20000} if of_topic else {}
    scene.make(**limit)
    host = scene.host()
    with scene.captured(host):
        scene.lab.did(f"{scene.name} sends records of {size} bytes, more than {scene.topic} may have")
        scene.write(host, per_s=scene.s, size=size, message_max_bytes=4_000_000, linger_ms=0)
        time.sleep(10)
    return Told(["failing"], [scene.who(host), [scene.topic], ["MESSAGE_TOO_LARGE"]])


@cause(6, 12)  # s that are captured after it
def topic_deleted(scene: Scene) -> Told:
    host = _read(scene, 1)
    reads = scene.chance.random() < 0.5
    with scene.captured(host, lambda: scene.read(host) if reads else scene.write(host)):
        scene.lab.did(f"{scene.topic} is deleted")
        scene.lab.admin.call(_delete, scene.lab.bootstrap, scene.topic)
        time.sleep(scene.s)
    return Told(["missing_topic", "topic_deleted", "failing"], [[scene.topic]])


def _delete(bootstrap: str, topic: str) -> None:
    from confluent_kafka.admin import AdminClient

    for future in AdminClient({"bootstrap.servers": bootstrap, "client.id": "setup"}).delete_topics([topic]).values():
        future.result(20)


@cause(8, 12)  # s until records are deleted
def overtaken(scene: Scene) -> Told:
    """Retention takes what a slow consumer has not read yet."""
    host = _read(scene, 1)
    scene.lab.fill(scene.topic, 30000, 200)
    small = {"record_s": 0.02, "fetch_max_bytes": 20000, "queued_max_messages_kbytes": 20, "message_max_bytes": 20000}
    with scene.captured(host):
        scene.lab.start(host, consume, scene.lab.bootstrap, scene.name, scene.name, scene.topic, **small)
        time.sleep(6)
        scene.lab.did(f"records of {scene.topic} before 20000 are deleted")
        scene.lab.admin.call(delete_records, scene.lab.bootstrap, scene.topic, 20000)
        time.sleep(scene.s)
    return Told(["offset_out_of_range"], [scene.who(host), [scene.topic]])


@cause(7, 10)  # s for a record
def polls_too_seldom(scene: Scene) -> Told:
    host = _read(scene)
    _feed(scene, 4)
    more: dict[str, Any] = {"max_poll_interval_ms": 6000, **PATIENCE}
    with scene.captured(host, lambda: scene.read(host, record_s=scene.s, **more)):
        scene.lab.did(f"{scene.name} takes {scene.s} s for a record, max.poll.interval.ms is 6 s")
        time.sleep(24)
    return Told(["poll_gap"], [scene.who(host)])


@cause(14, 20)  # s
def instance_twice(scene: Scene) -> Told:
    one, two = _read(scene), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic, 40.0, "mate-1")
    with scene.captured(one, lambda: scene.lab.start(one, consume_stubbornly, *names)):
        scene.lab.did(f"a second process with the instance id mate-1 starts at {two.address}")
        scene.lab.start(two, consume_stubbornly, *names)
        time.sleep(scene.s)
    return Told(["failing", "commit_failures"], [[scene.name], ["FENCED_INSTANCE_ID"]])


@cause(8, 14)  # s
def transactional_twice(scene: Scene) -> Told:
    one, two = _read(scene), scene.host()
    names = (f"{scene.name}-tx", scene.topic, 60.0)
    first = (scene.lab.bootstrap, f"{scene.name}-a", *names)
    with scene.captured(one, lambda: scene.lab.start(one, produce_in_transactions, *first)):
        scene.lab.did(f"{scene.name}-b at {two.address} uses the same transactional id")
        scene.lab.start(two, produce_in_transactions, scene.lab.bootstrap, f"{scene.name}-b", *names)
        time.sleep(scene.s)
    return Told(["fenced_producer"], [[f"{scene.name}-tx", f"{scene.name}-a", f"{scene.name}-b"]])


@cause(2, 5)  # s of a life
def reads_again(scene: Scene) -> Told:
    """It never commits, and is started anew again and again."""
    host = _read(scene)
    scene.lab.fill(scene.topic, 400, 200)
    _feed(scene)
    with scene.captured(host), scene.lab.doing(f"{scene.name} is started anew each {scene.s} s and commits nothing"):
        for _ in range(int(22 / (scene.s + 1))):
            more = {"seconds": scene.s, "enable_auto_commit": False}
            scene.lab.start(host, consume, scene.lab.bootstrap, scene.name, scene.name, scene.topic, **more)
            time.sleep(scene.s + 1)
    return Told(["rereads", "no_progress"], [[*scene.who(host), scene.topic]])


@cause(10, 60)  # number of the record
def poisoned(scene: Scene) -> Told:
    host = _read(scene, 1)
    scene.lab.fill(scene.topic, 80, 200)
    with scene.captured(host):
        scene.lab.did(f"{scene.name} fails at record {scene.s:.0f} of {scene.topic}-0, and is started anew")
        names = (scene.name, scene.name, scene.topic, 60, round(scene.s))
        scene.lab.start(host, _fails_at, scene.lab.bootstrap, *names)
        time.sleep(22)
    return Told(["rereads", "no_progress", "rebalance_loop", "unsteady_member"], [[*scene.who(host), scene.topic]])


def _fails_at(bootstrap: str, client: str, group: str, topic: str, seconds: float, poisoned: int) -> None:
    from confluent_kafka import Consumer

    names: dict[str, Any] = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    run = running(seconds)
    while run:
        consumer = Consumer(config(bootstrap, client, names))
        consumer.subscribe([topic])
        while run:
            message = consumer.poll(0.2)
            if message is None or message.error():
                continue
            if message.offset() == poisoned:
                said(client, "cannot read record", poisoned)
                break
            consumer.commit(message, asynchronous=False)
        consumer.close()
        time.sleep(1)


@cause(4000, 200000)  # s that its clock is ahead
def clock_ahead(scene: Scene) -> Told:
    """Brokers of 4.x refuse what is an hour ahead; the older only when the topic is set so."""
    host = _read(scene, 1) if scene.drawn.version.startswith("4") else _timed(scene)
    with scene.captured(host):
        scene.lab.did(f"the clock of {scene.name} is {scene.s:.0f} s ahead")
        names = (scene.lab.bootstrap, scene.name, scene.topic, scene.s, 60.0)
        scene.lab.start(host, produce_stamped, *names)
        time.sleep(10)
    return Told(["failing"], [scene.who(host), [scene.topic], ["INVALID_TIMESTAMP"]])


def _timed(scene: Scene) -> Host:
    scene.make(message_timestamp_after_max_ms=3600000)
    return scene.host()


@cause(1.5, 10, least=2)  # times as much is written as it reads
def application_slow(scene: Scene) -> Told:
    host = _read(scene, 1)
    with scene.captured(host, lambda: _feed(scene, 10 * scene.s), lambda: scene.read(host, record_s=0.1)):
        scene.lab.did(f"{scene.name} takes 100 ms for a record; {10 * scene.s:.0f} come in each second")
        time.sleep(20)
    return Told(["lag_growing"], [scene.who(host)])


@cause(100, 300)  # records a second
def batches_tiny(scene: Scene) -> Told:
    host = _read(scene, 1)
    with scene.captured(host, lambda: scene.write(host, per_s=scene.s, linger_ms=0, batch_size=1)):
        time.sleep(10)
    return Told(["tiny_batches"], [scene.who(host)])


@cause(6, 12)  # s
def too_few_copies(scene: Scene) -> Told:
    """Two copies, of which three must have each record: nobody is down."""
    scene.make(copies=True, min_insync_replicas=3)
    host = scene.host()
    with scene.captured(host, lambda: scene.write(host, acks="all")):
        time.sleep(scene.s)
    return Told(["not_enough_replicas", "failing"], [[scene.topic, f"{scene.topic}-0"]])


@cause(3, 5)  # s of a life
def crashes(scene: Scene) -> Told:
    one, two = _read(scene, 4), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    steady = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    with scene.captured(one, lambda: scene.lab.start(two, consume, *steady, **PATIENCE)):
        scene.lab.did(f"{scene.name} ({one.address}) is killed each {scene.s} s and started again")
        for _ in range(int(26 / scene.s)):
            member = scene.lab.start(one, consume, *names, **PATIENCE)
            time.sleep(scene.s)
            member.kill()
    return Told(["member_crashes", "session_expired"], [scene.who(one)])


@cause(8, 14)  # s
def session_refused(scene: Scene) -> Told:
    """A session timeout that brokers do not allow."""
    host = _read(scene)
    with scene.captured(host):
        scene.lab.did(f"{scene.name} asks for a session timeout of 1 s")
        scene.read(host, session_timeout_ms=1000, heartbeat_interval_ms=300)
        time.sleep(scene.s)
    return Told(["failing"], [[scene.name], ["INVALID_SESSION_TIMEOUT"]])


@cause(8, 14)  # s
def group_full(scene: Scene) -> Told:
    """Brokers allow six members; there are eight."""
    host = _read(scene, 8)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(host):
        scene.lab.did(f"eight members of {scene.name} start, and six are allowed")
        for _ in range(8):
            scene.lab.start(host, consume, *names)
            time.sleep(0.3)
        time.sleep(scene.s)
    return Told(["failing"], [[scene.name], ["GROUP_MAX_SIZE_REACHED"]])


@cause(8, 14)  # s
def keyless(scene: Scene) -> Told:
    scene.make(cleanup_policy="compact")
    host = scene.host()
    with scene.captured(host):
        scene.lab.did(f"{scene.name} writes records without a key to {scene.topic}, which is compacted")
        scene.lab.start(host, python_produce, scene.lab.bootstrap, scene.name, scene.topic, per_s=5)
        time.sleep(scene.s)
    return Told(["failing"], [scene.who(host), [scene.topic], ["INVALID_RECORD"]])


@cause(8, 14)  # s
def name_misspelt(scene: Scene) -> Told:
    host, reads = scene.host(), scene.chance.random() < 0.5
    with scene.captured(host):
        scene.lab.did(f"{scene.name} {'reads' if reads else 'writes to'} {scene.topic}, which nobody made")
        scene.read(host) if reads else scene.write(host)
        time.sleep(scene.s)
    return Told(["missing_topic"], [[scene.topic]])


@cause(8, 14)  # s
def copies_impossible(scene: Scene) -> Told:
    """An installer asks for five copies, of three brokers, again and again."""
    host = scene.host()
    with scene.captured(host):
        scene.lab.did(f"{scene.name} makes {scene.topic} with five copies")
        scene.lab.start(host, _install, scene.lab.bootstrap, scene.name, scene.topic)
        time.sleep(scene.s)
    return Told(["failing"], [scene.who(host), ["INVALID_REPLICATION_FACTOR"]])


def _install(bootstrap: str, client: str, topic: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap, "client.id": client})
    while True:
        said(*admin.create_topics([NewTopic(topic, 1, 5)]).values())
        admin.poll(0.7)
        time.sleep(0.7)


@cause(8, 14, least=9)  # s
def client_paused(scene: Scene) -> Told:
    one, two = _read(scene), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    steady = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    members: list[Any] = []

    def begin() -> None:
        scene.lab.start(two, consume, *steady, **PATIENCE)
        members.append(scene.lab.start(one, consume, *names, **PATIENCE))

    with scene.captured(one, begin):
        time.sleep(4)
        with scene.lab.doing(f"{scene.name} ({one.address}) stands still"):
            members[0].signal(signal.SIGSTOP)
            time.sleep(scene.s)
            members[0].signal(signal.SIGCONT)
        time.sleep(5)
    return Told(["session_expired"], [scene.who(one)])


@cause(4, 30)  # connections a second
def connects_each_time(scene: Scene) -> Told:
    scene.make()
    host = scene.host()
    names = (scene.broker.address, scene.name, scene.topic, scene.s, 60.0)
    with scene.captured(host, lambda: scene.lab.start(host, connect_for_each, *names)):
        time.sleep(12)
    return Told(["connection_storm"], [scene.who(host)])


@cause(100, 400)  # records a second
def commits_each(scene: Scene) -> Told:
    host = _read(scene, 1)
    _feed(scene, scene.s)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(host, lambda: scene.lab.start(host, consume_and_commit_each, *names)):
        time.sleep(12)
    return Told(["commit_storm"], [scene.who(host)])


@cause(5, 8)  # s of work in a transaction
def transaction_too_long(scene: Scene) -> Told:
    host = _read(scene, 1)
    names = (scene.lab.bootstrap, scene.name, f"{scene.name}-tx", scene.topic, scene.s + 10, 3)
    with scene.captured(host, lambda: scene.lab.start(host, produce_slowly_in_transactions, *names)):
        time.sleep(26)
    return Told(
        ["aborted_transactions", "failing", "fenced_producer", "hanging_transaction"],
        [[scene.name, f"{scene.name}-tx"]],
    )


@cause(2, 4)  # s between
def scaler_flaps(scene: Scene) -> Told:
    """A member is started and stopped again, for ever."""
    one, two = _read(scene, 4), scene.host()
    _feed(scene)
    steady = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(two, lambda: scene.lab.start(one, consume, *steady)):
        scene.lab.did(f"a member at {two.address} is started and stopped in order each {scene.s} s")
        for _ in range(int(24 / scene.s / 2)):
            member = scene.lab.start(two, consume, *names)
            time.sleep(scene.s)
            member.stop()
            time.sleep(scene.s)
    return Told(["unsteady_member", "rebalance_loop"], [[*scene.who(two), scene.name]])


@cause(8, 14)  # s
def assignors_differ(scene: Scene) -> Told:
    one, two = _read(scene, 4), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    with scene.captured(two, lambda: scene.lab.start(one, consume, *names)):
        time.sleep(3)
        scene.lab.did(f"{scene.name} knows another assignor than its group")
        sticky = "org.apache.kafka.clients.consumer.StickyAssignor"
        java_consume(scene.lab, two, scene.name, scene.name, scene.topic, partition_assignment_strategy=sticky)
        time.sleep(scene.s)
    return Told(["failing"], [[scene.name], ["INCONSISTENT_GROUP_PROTOCOL"]])


@cause(200, 2000)  # bytes of a record
def one_key(scene: Scene) -> Told:
    """Nearly all records have one key: one partition of six gets them."""
    host = _read(scene, 6)
    with scene.captured(
        host, lambda: scene.lab.start(host, _skewed, scene.lab.bootstrap, scene.name, scene.topic, scene.s)
    ):
        time.sleep(14)
    return Told(["skewed_partitions"], [[scene.topic]])


def _skewed(bootstrap: str, client: str, topic: str, size: float) -> None:
    import random

    from confluent_kafka import Producer

    producer, chance = Producer(config(bootstrap, client, {"linger_ms": 20})), random.Random(client)
    run = running(60)
    while run:
        key = "one" if chance.random() < 0.95 else str(chance.random())
        producer.produce(topic, payload(chance, round(size)), key=key)
        producer.poll(0.01)
