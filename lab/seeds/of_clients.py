"""Causes that lie in clients, or in what was set for them."""

from __future__ import annotations

import time
from typing import Any

from lab.clients import config, consume, payload, produce, running, said
from lab.pythonclient import python_produce
from lab.security import login
from lab.seeds.causes import Told, cause
from lab.seeds.scene import SECURE, Scene
from lab.tricks import connect_for_each, produce_in_transactions, produce_slowly_in_transactions, produce_stamped


@cause(2, 12, "s")
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
    # That a topic may not be seen is at the end of a reply that a cut capture has not got, and the producer asks no more.
    seen = sees or not writes or not scene.drawn.snap
    return Told(["authorization"], [[*scene.who(host), "guest"]], above=seen)


@cause(4, 80, "times the quota")
def quota_of_writes(scene: Scene) -> Told:
    scene.make()
    quota = ("--alter", "--add-config", "producer_byte_rate=20000", "--entity-type", "clients", "--entity-name")
    scene.lab.tool("kafka.admin.ConfigCommand", *quota, scene.name)
    host = scene.host()
    with scene.captured(host, lambda: scene.write(host, per_s=20 * scene.s / 4, size=2000, linger_ms=5)):
        time.sleep(14)
    return Told(["throttled"], [[scene.name]])


@cause(20, 400, "kB/s", falls=True)
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
    host = scene.machine(**limit)
    with scene.captured(host):
        scene.lab.did(f"{scene.name} sends records of {size} bytes, more than {scene.topic} may have")
        scene.write(host, per_s=scene.s, size=size, message_max_bytes=4_000_000, linger_ms=0)
        time.sleep(10)
    return Told(["failing"], [scene.who(host), [scene.topic], ["MESSAGE_TOO_LARGE"]])


@cause(6, 12)  # s that are captured after it
def topic_deleted(scene: Scene) -> Told:
    host = scene.machine()
    reads = scene.chance.random() < 0.5
    with scene.captured(host, lambda: scene.read(host) if reads else scene.write(host)):
        scene.lab.did(f"{scene.topic} is deleted")
        scene.lab.admin.call(delete_topic, scene.lab.bootstrap, scene.topic)
        time.sleep(scene.s)
    return Told(["missing_topic", "topic_deleted", "failing"], [[scene.topic]])


def delete_topic(bootstrap: str, topic: str) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": bootstrap, "client.id": "setup"})
    for future in admin.delete_topics([topic]).values():
        future.result(20)


@cause(8, 14)  # s
def transactional_twice(scene: Scene) -> Told:
    one, two = scene.machine(partitions=2), scene.host()
    names = (f"{scene.name}-tx", scene.topic, 60.0)
    first = (scene.lab.bootstrap, f"{scene.name}-a", *names)
    with scene.captured(one, lambda: scene.lab.start(one, produce_in_transactions, *first)):
        scene.lab.did(f"{scene.name}-b at {two.address} uses the same transactional id")
        scene.lab.start(two, produce_in_transactions, scene.lab.bootstrap, f"{scene.name}-b", *names)
        time.sleep(scene.s)
    return Told(["fenced_producer"], [[f"{scene.name}-tx", f"{scene.name}-a", f"{scene.name}-b"]])


@cause(4000, 200000)  # s that its clock is ahead
def clock_ahead(scene: Scene) -> Told:
    host = scene.machine(message_timestamp_after_max_ms=3_600_000)
    with scene.captured(host):
        scene.lab.did(f"the clock of {scene.name} is {scene.s:.0f} s ahead")
        names = (scene.lab.bootstrap, scene.name, scene.topic, scene.s, 60.0)
        scene.lab.start(host, produce_stamped, *names)
        time.sleep(10)
    return Told(["failing"], [scene.who(host), [scene.topic], ["INVALID_TIMESTAMP"]])


@cause(100, 300, "records a second")
def batches_tiny(scene: Scene) -> Told:
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host, per_s=scene.s, linger_ms=0, batch_size=1)):
        time.sleep(10)
    return Told(["tiny_batches"], [scene.who(host)])


@cause(6, 12)  # s
def too_few_copies(scene: Scene) -> Told:
    """Two copies, of which three must have each record: nobody is down, and brokers are content with what there is."""
    host = scene.machine(copies=True, min_insync_replicas=3)
    with scene.captured(host, lambda: scene.write(host, acks="all")):
        time.sleep(scene.s)
    return Told(["not_enough_replicas", "failing"], [[scene.topic, f"{scene.topic}-0"]], above=False)


@cause(8, 14)  # s
def keyless(scene: Scene) -> Told:
    host = scene.machine(cleanup_policy="compact")
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
    if scene.drawn.snap:
        return Told(["missing_topic", "asks_in_vain"], [[*scene.who(host), scene.topic]])
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


@cause(4, 30, "connections a second")
def connects_each_time(scene: Scene) -> Told:
    host = scene.machine()
    names = (scene.broker.address, scene.name, scene.topic, scene.s, 60.0)
    with scene.captured(host, lambda: scene.lab.start(host, connect_for_each, *names)):
        time.sleep(12)
    return Told(["connection_storm"], [scene.who(host)])


@cause(5, 8)  # s of work in a transaction
def transaction_too_long(scene: Scene) -> Told:
    host = scene.machine()
    names = (scene.lab.bootstrap, scene.name, f"{scene.name}-tx", scene.topic, scene.s + 10, 3)
    with scene.captured(host, lambda: scene.lab.start(host, produce_slowly_in_transactions, *names)):
        time.sleep(26)
    return Told(
        ["aborted_transactions", "failing", "fenced_producer", "hanging_transaction"],
        [[scene.name, f"{scene.name}-tx"]],
    )


@cause(200, 2000)  # bytes of a record
def one_key(scene: Scene) -> Told:
    """Nearly all records have one key: one partition of six gets them."""
    host = scene.machine(partitions=6)
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
