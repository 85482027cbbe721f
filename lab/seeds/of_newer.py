"""Causes and days of what is newer: groups whose broker assigns (KIP-848), Streams, partitions that move."""

from __future__ import annotations

import json
import time
from typing import Any

from lab.applications import until_said, word_count
from lab.clients import consume, produce
from lab.namespaces import Host
from lab.seeds.causes import Told, cause
from lab.seeds.of_clients import delete_topic
from lab.seeds.scene import Scene, called

_REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


def _protocol(scene: Scene) -> dict[str, Any]:
    """Brokers of 3.9 know the newer one only as a preview."""
    return {} if scene.drawn.version.startswith("3") else {"group_protocol": "consumer"}


def _feed(scene: Scene) -> None:
    scene.lab.start(scene.host(), produce, scene.lab.bootstrap, "feeder", scene.topic, per_s=10)


@cause(1, 5)  # s until the copies are moved
def healthy_reassigned(scene: Scene) -> Told:
    host, place = scene.machine(copies=True, partitions=2), scene.drawn.place
    new = [(place + 1) % 3 + 1, place % 3 + 1]
    plan = [{"topic": scene.topic, "partition": number, "replicas": new} for number in (0, 1)]
    path = scene.lab.folder / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": plan}))
    with scene.captured(host, lambda: scene.write(host), lambda: scene.read(host)):
        time.sleep(scene.s)
        with scene.lab.doing(f"{called(scene.broker)} gives its copies of {scene.topic} up"):
            scene.lab.tool(_REASSIGN, "--execute", "--reassignment-json-file", str(path))
        time.sleep(6)
    return Told()


@cause(2, 5)  # s between
def healthy_members_change(scene: Scene) -> Told:
    """A member of the newer protocol comes, and goes."""
    one, two = scene.machine(partitions=4), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(two, lambda: scene.lab.start(one, consume, *names, **_protocol(scene))):
        time.sleep(scene.s)
        second = scene.lab.start(two, consume, *names, **_protocol(scene))
        time.sleep(scene.s + 4)
        second.stop()
        time.sleep(scene.s)
    return Told()


@cause(2, 5)  # s of a life
def killed_again_and_again(scene: Scene) -> Told:
    """A member of the newer protocol, where brokers have it, that never says that it goes."""
    one, two = scene.machine(partitions=4), scene.host()
    _feed(scene)
    names, more = (scene.lab.bootstrap, scene.name, scene.name, scene.topic), _protocol(scene)
    steady = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    lives = int(24 / scene.s)
    with scene.captured(one, lambda: scene.lab.start(two, consume, *steady, **more)):
        scene.lab.did(f"{scene.name} ({one.address}) is killed each {scene.s} s and started again")
        for _ in range(lives):
            member = scene.lab.start(one, consume, *names, **more)
            time.sleep(scene.s)
            member.kill()
    return Told(
        ["member_crashes", "restarting_member", "session_expired", "rebalance_loop"], [[*scene.who(one), scene.name]]
    )


@cause(10, 16)  # s
def healthy_streams(scene: Scene) -> Told:
    host = scene.machine(partitions=2)
    _feed(scene)
    _count_words(scene, host)
    with scene.captured(host):
        time.sleep(scene.s)
    return Told()


@cause(8, 12)  # s that are captured after it
def streams_topic_deleted(scene: Scene) -> Told:
    host = scene.machine(partitions=2)
    _count_words(scene, host)
    with scene.captured(host):
        time.sleep(2)
        scene.lab.did(f"{scene.topic}, which the application reads, is deleted")
        scene.lab.admin.call(delete_topic, scene.lab.bootstrap, scene.topic)
        time.sleep(scene.s)
    return Told(["missing_topic", "topic_deleted", "failing"], [[scene.topic]])


def _count_words(scene: Scene, host: Host) -> None:
    """At work: it is compiled as it starts, which takes long."""
    counts: dict[str, Any] = {f"{scene.topic}-counts": {"partitions": 1}}
    scene.lab.topics(**counts)
    word_count(scene.lab, host, scene.name, scene.topic, f"{scene.topic}-counts")
    until_said(host, "to RUNNING")
