"""Causes that lie in consumers and their groups."""

from __future__ import annotations

import signal
import time
from typing import Any

from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.seeds.causes import Told, cause
from lab.seeds.scene import Scene
from lab.tricks import consume_and_commit_each, consume_stubbornly, consume_up_to
from lab.upkeep import delete_records

PATIENCE = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 1000}


def _feed(scene: Scene, per_s: float = 10) -> None:
    """Somebody writes to the topic that is read."""
    host = scene.shop.get(id(scene.lab)) or scene.host()
    scene.lab.start(host, produce, scene.lab.bootstrap, "feeder", scene.topic, per_s=per_s)


@cause(8, 12)  # s until records are deleted
def overtaken(scene: Scene) -> Told:
    """Retention takes what a slow consumer has not read yet."""
    host = scene.machine()
    scene.lab.fill(
        scene.topic, 30000, 200, batch=10_000
    )  # a reply has a batch at least, which must not last it to the end
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
    host = scene.machine(partitions=2)
    _feed(scene, 4)
    more: dict[str, Any] = {"max_poll_interval_ms": 6000, **PATIENCE}
    with scene.captured(host, lambda: scene.read(host, record_s=scene.s, **more)):
        scene.lab.did(f"{scene.name} takes {scene.s} s for a record, max.poll.interval.ms is 6 s")
        time.sleep(24)
    return Told(["poll_gap"], [scene.who(host)])


@cause(14, 20)  # s
def instance_twice(scene: Scene) -> Told:
    one, two = scene.machine(partitions=2), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic, 40.0, "mate-1")
    with scene.captured(one, lambda: scene.lab.start(one, consume_stubbornly, *names)):
        scene.lab.did(f"a second process with the instance id mate-1 starts at {two.address}")
        scene.lab.start(two, consume_stubbornly, *names)
        time.sleep(scene.s)
    return Told(["instance_fenced"], [[scene.name], ["mate-1"]])


@cause(2, 5)  # s of a life
def reads_again(scene: Scene) -> Told:
    """It never commits, and is started anew again and again."""
    host = scene.machine(partitions=2)
    scene.lab.fill(scene.topic, 400, 200)
    _feed(scene)
    with scene.captured(host), scene.lab.doing(f"{scene.name} is started anew each {scene.s} s and commits nothing"):
        for _ in range(int(22 / (scene.s + 1))):
            more = {"seconds": scene.s, "enable_auto_commit": False}
            scene.lab.start(host, consume, scene.lab.bootstrap, scene.name, scene.name, scene.topic, **more)
            time.sleep(scene.s + 1)
    return Told(["rereads", "no_progress", *scene.cut("restarting_member")], [[*scene.who(host), scene.topic]])


@cause(10, 60)  # number of the record
def poisoned(scene: Scene) -> Told:
    host = scene.machine()
    scene.lab.fill(scene.topic, 80, 200)
    with scene.captured(host):
        scene.lab.did(f"{scene.name} fails at record {scene.s:.0f} of {scene.topic}-0, and is started anew")
        names = (scene.name, scene.name, scene.topic, round(scene.s))
        scene.lab.start(host, consume_up_to, scene.lab.bootstrap, *names)
        time.sleep(22)
    told = ["rereads", "no_progress", "rebalance_loop", "unsteady_member", *scene.cut("restarting_member")]
    return Told(told, [[*scene.who(host), scene.topic]])


@cause(1.5, 10, "times as much is written as it reads", least=2)
def application_slow(scene: Scene) -> Told:
    host = scene.machine()
    with scene.captured(host, lambda: _feed(scene, 10 * scene.s), lambda: scene.read(host, record_s=0.1)):
        scene.lab.did(f"{scene.name} takes 100 ms for a record; {10 * scene.s:.0f} come in each second")
        time.sleep(20)
    return Told(["lag_growing", "not_asking"], [scene.who(host)])


@cause(3, 5)  # s of a life
def crashes(scene: Scene) -> Told:
    one, two = scene.machine(partitions=4), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    steady = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    with scene.captured(one, lambda: scene.lab.start(two, consume, *steady, **PATIENCE)):
        scene.lab.did(f"{scene.name} ({one.address}) is killed each {scene.s} s and started again")
        for _ in range(int(26 / scene.s)):
            member = scene.lab.start(one, consume, *names, **PATIENCE)
            time.sleep(scene.s)
            member.kill()
    return Told(["member_crashes", "session_expired", *scene.cut("restarting_member")], [scene.who(one)])


@cause(8, 14)  # s
def session_refused(scene: Scene) -> Told:
    """A session timeout that brokers do not allow."""
    host = scene.machine(partitions=2)
    with scene.captured(host):
        scene.lab.did(f"{scene.name} asks for a session timeout of 1 s")
        scene.read(host, session_timeout_ms=1000, heartbeat_interval_ms=300)
        time.sleep(scene.s)
    return Told(["failing"], [[scene.name], ["INVALID_SESSION_TIMEOUT"]])


@cause(8, 14)  # s
def group_full(scene: Scene) -> Told:
    """Brokers allow six members; there are eight."""
    host = scene.machine(partitions=8)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(host):
        scene.lab.did(f"eight members of {scene.name} start, and six are allowed")
        for _ in range(8):
            scene.lab.start(host, consume, *names)
            time.sleep(0.3)
        time.sleep(scene.s)
    return Told(["failing"], [[scene.name], ["GROUP_MAX_SIZE_REACHED"]])


@cause(8, 14, "s", least=9)
def client_paused(scene: Scene) -> Told:
    one, two = scene.machine(partitions=2), scene.host()
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


@cause(100, 400, "records a second")
def commits_each(scene: Scene) -> Told:
    host = scene.machine()
    _feed(scene, scene.s)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(host, lambda: scene.lab.start(host, consume_and_commit_each, *names)):
        time.sleep(12)
    return Told(["commit_storm"], [scene.who(host)])


@cause(2, 4)  # s between
def scaler_flaps(scene: Scene) -> Told:
    """A member is started and stopped again, for ever."""
    one, two = scene.machine(partitions=4), scene.host()
    _feed(scene)
    steady = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(two, lambda: scene.lab.start(one, consume, *steady)):
        scene.lab.did(f"a member at {two.address} is started and stopped in order each {scene.s} s")
        stays = int(24 / scene.s / 2)
        for _ in range(stays):
            member = scene.lab.start(two, consume, *names)
            time.sleep(scene.s)
            member.stop()
            time.sleep(scene.s)
    # Beside the client whose members come and go nobody else is seen.
    alone = ["restarting_member"] if scene.drawn.at_client else scene.cut("restarting_member")
    told = ["unsteady_member", "rebalance_loop", *alone]
    return Told(told, [[*scene.who(two), scene.name]], above=stays >= 4)


@cause(8, 14)  # s
def assignors_differ(scene: Scene) -> Told:
    one, two = scene.machine(partitions=4), scene.host()
    _feed(scene)
    names = (scene.lab.bootstrap, "steady", scene.name, scene.topic)
    with scene.captured(two, lambda: scene.lab.start(one, consume, *names)):
        time.sleep(3)
        scene.lab.did(f"{scene.name} knows another assignor than its group")
        sticky = "org.apache.kafka.clients.consumer.StickyAssignor"
        java_consume(scene.lab, two, scene.name, scene.name, scene.topic, partition_assignment_strategy=sticky)
        time.sleep(scene.s)
    return Told(["failing"], [[scene.name], ["INCONSISTENT_GROUP_PROTOCOL"]])
