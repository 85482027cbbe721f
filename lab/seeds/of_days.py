"""Healthy days, many of which look like something else."""

from __future__ import annotations

import contextlib
import time

from lab.clients import consume, produce
from lab.namespaces import Child
from lab.seeds.causes import Told, cause
from lab.seeds.of_groups import PATIENCE
from lab.seeds.scene import Scene, called
from lab.tricks import produce_in_transactions, produce_now_and_then
from lab.upkeep import delete_records
from lab.wire import Habits


@cause(8, 14)  # s
def healthy_work(scene: Scene) -> Told:
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host)):
        time.sleep(scene.s)
    return Told()


@cause(8, 14)  # s
def healthy_reading(scene: Scene) -> Told:
    scene.make(partitions=3)
    host, other = scene.host(), scene.host()
    scene.lab.start(other, produce, scene.lab.bootstrap, "feeder", scene.topic, per_s=20)
    with scene.captured(host, lambda: scene.read(host)):
        time.sleep(scene.s)
    return Told()


@cause(0.5, 3)  # s until it is started again
def healthy_restart(scene: Scene) -> Told:
    """Each partition has a copy elsewhere."""
    host = scene.machine(copies=True)
    with scene.captured(host, lambda: scene.write(host)):
        with scene.lab.doing(f"{called(scene.broker)} is restarted in order"):
            scene.broker.stop()
            time.sleep(scene.s)
            scene.broker.start()
            scene.broker.wait()
        time.sleep(6)
    return Told()


@cause(1, 3)  # s between
def healthy_rolling(scene: Scene) -> Told:
    host = scene.machine(copies=True, partitions=3)
    with scene.captured(host, lambda: scene.write(host), lambda: scene.read(host)):
        for broker in scene.brokers:
            with scene.lab.doing(f"{called(broker)} is restarted in order"):
                broker.stop()
                broker.start()
                broker.wait()
            time.sleep(scene.s)
        time.sleep(3)
    return Told()


@cause(1, 8)  # s
def healthy_long_polls(scene: Scene) -> Told:
    host = scene.machine()
    polls = {"fetch_wait_max_ms": round(scene.s * 1000), "fetch_min_bytes": 100_000, "socket_timeout_ms": 60000}
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    with scene.captured(host, lambda: scene.lab.start(host, consume, *names, **polls)):
        scene.lab.start(host, produce, scene.lab.bootstrap, f"{scene.name}-feed", scene.topic, per_s=2)
        time.sleep(16)
    return Told()


@cause(10, 16)  # s
def healthy_idle(scene: Scene) -> Told:
    """Consumers of a topic that is empty."""
    scene.make(partitions=4)
    one, two = scene.host(), scene.host()
    with scene.captured(one, lambda: scene.read(one), lambda: scene.read(two)):
        time.sleep(scene.s)
    return Told()


@cause(2, 4)  # s between
def healthy_jobs(scene: Scene) -> Told:
    host = scene.machine(partitions=2)
    with scene.captured(host):
        for number in range(int(20 / scene.s)):
            names = (scene.lab.bootstrap, f"{scene.name}-{number}", scene.topic)
            scene.lab.start(host, produce, *names, per_s=30, seconds=1)
            time.sleep(scene.s)
    return Told()


@cause(3, 6)  # s between
def healthy_deploy(scene: Scene) -> Told:
    scene.make(partitions=6)
    hosts = [scene.host() for _ in range(3)]
    scene.lab.start(hosts[0], produce, scene.lab.bootstrap, "feeder", scene.topic, per_s=10)
    names = (scene.lab.bootstrap, scene.name, scene.name, scene.topic)
    members: list[Child] = []

    def begin() -> None:
        members.extend(scene.lab.start(host, consume, *names, **PATIENCE) for host in hosts)

    with scene.captured(hosts[0], begin):
        time.sleep(4)
        for host, member in zip(hosts, members, strict=True):
            with scene.lab.doing(f"the member at {host.address} is replaced by its next release"):
                member.stop()
                scene.lab.start(host, consume, *names, **PATIENCE)
            time.sleep(scene.s)
    return Told()


@cause(0.1, 0.5)  # s between
def healthy_transactions(scene: Scene) -> Told:
    host = scene.machine()
    names = (scene.lab.bootstrap, scene.name, f"{scene.name}-tx", scene.topic, 60.0, 7, scene.s)
    with scene.captured(host, lambda: scene.lab.start(host, produce_in_transactions, *names)):
        scene.read(host, isolation_level="read_committed", auto_offset_reset="earliest")
        time.sleep(12)
    return Told()


@cause(2000, 30000)  # records
def healthy_catching_up(scene: Scene) -> Told:
    scene.make(partitions=3)
    scene.lab.fill(scene.topic, round(scene.s), 500)
    host = scene.host()
    with scene.captured(host):
        scene.read(host, auto_offset_reset="earliest")
        time.sleep(10)
    return Told()


@cause(3, 8)  # s between records
def healthy_seldom(scene: Scene) -> Told:
    host = scene.machine()
    names = (scene.lab.bootstrap, scene.name, scene.topic, scene.s)
    with scene.captured(host, lambda: scene.lab.start(host, produce_now_and_then, *names)):
        time.sleep(20)
    return Told()


@cause(0.005, 0.08)  # s, each way
def healthy_far(scene: Scene) -> Told:
    scene.make()
    wire = scene.wire(Habits(delay_s=scene.s))
    with scene.captured(wire.host, lambda: scene.write(wire.host, linger_ms=50)):
        time.sleep(12)
    return Told()


@cause(100, 800)  # records that go
def healthy_retention(scene: Scene) -> Told:
    """What was read long ago is deleted."""
    scene.make()
    scene.lab.fill(scene.topic, 1000, 200)
    host = scene.host()
    with scene.captured(host, lambda: scene.read(host, auto_offset_reset="earliest")):
        time.sleep(4)
        scene.lab.did(f"records of {scene.topic} before {scene.s:.0f} are deleted")
        scene.lab.admin.call(delete_records, scene.lab.bootstrap, scene.topic, round(scene.s))
        time.sleep(6)
    return Told()


@cause(1, 4)  # s between
def healthy_scaling(scene: Scene) -> Told:
    host = scene.machine(partitions=6)
    scene.lab.start(host, produce, scene.lab.bootstrap, "feeder", scene.topic, per_s=10)
    with scene.captured(host):
        for _ in range(4):
            scene.read(host)
            time.sleep(scene.s)
        time.sleep(4)
    return Told()


@cause(6, 12)  # s
def healthy_leaders_move(scene: Scene) -> Told:
    """The copy of each partition leads from now on."""
    host = scene.machine(copies=True, partitions=3)
    with scene.captured(host, lambda: scene.write(host), lambda: scene.read(host)):
        with scene.lab.doing(f"{called(scene.broker)} is stopped in order; its copies lead"):
            scene.broker.stop()
        time.sleep(scene.s)
        scene.broker.start()
        scene.broker.wait()
        with scene.lab.doing("who should lead does so again"), contextlib.suppress(RuntimeError):
            scene.lab.tool(
                "kafka.admin.LeaderElectionCommand", "--election-type", "preferred", "--all-topic-partitions"
            )
        time.sleep(4)
    return Told()
