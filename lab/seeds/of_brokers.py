"""Causes that lie in brokers."""

from __future__ import annotations

import contextlib
import signal
import time
from typing import Any

from lab.brokers import Broker
from lab.clients import make_topics
from lab.seeds.causes import Told, cause
from lab.seeds.scene import Scene, called

STALLED = ["broker_stalled", "slow_broker"]


@cause(0.1, 8, "s", least=1)
def broker_stalled(scene: Scene) -> Told:
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host)):
        with scene.lab.doing(f"{called(scene.broker)} stands still"):
            scene.broker.pause(scene.s)
        time.sleep(5)
    return Told(["broker_stalled"], [[scene.broker.address]])


@cause(0.2, 6, "s", least=1)
def disk_stalled(scene: Scene) -> Told:
    """Broker 2 alone has a disk of its own."""
    broker = scene.brokers[1]
    topics: dict[str, Any] = {scene.topic: {"assignment": [[2]]}}
    scene.lab.topics(**topics)
    host = scene.host()
    with scene.captured(host, lambda: scene.write(host)):
        with scene.lab.doing(f"the disk of {called(broker)} stands still"):
            scene.lab.disks[2].freeze(scene.s)
        time.sleep(5)
    # It is a follower of what the innocent others write.
    return Told([*STALLED, "slow_replication"], [[broker.address, broker.host.address]])


@cause(0.2, 0.8, "share of each 200 ms that it stands still, for 8 s", least=0.5)
def broker_starved(scene: Scene) -> Told:
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host)):
        with scene.lab.doing(f"{called(scene.broker)} gets the processor for {1 - scene.s:.0%} of the time"):
            end = time.monotonic() + 8
            while time.monotonic() < end:
                scene.broker.pause(0.2 * scene.s)
                time.sleep(0.2 * (1 - scene.s))
        time.sleep(2)
    # It is a follower of what the innocent others write.
    return Told([*STALLED, "slow_replication"], [[scene.broker.address, scene.broker.host.address]])


@cause(6, 12)  # s that are captured after it
def broker_gone(scene: Scene) -> Told:
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host)):
        scene.lab.did(f"{called(scene.broker)} is killed")
        scene.broker.kill()
        time.sleep(scene.s)
    return Told(["broker_gone"], [[scene.broker.address]])


@cause(1, 8, "s until it is started again")
def only_copy_restarted(scene: Scene) -> Told:
    """In order, and yet nobody else has the topic."""
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host)):
        with scene.lab.doing(f"{called(scene.broker)} is stopped in order, and started again"):
            scene.broker.stop()
            time.sleep(scene.s)
            scene.broker.start()
            scene.broker.wait()
        time.sleep(4)
    return Told(["broker_gone", "no_leader"], [[scene.broker.address, scene.topic]])


@cause(6, 12)  # s that are captured after it
def in_sync_missing(scene: Scene) -> Told:
    """Two copies must have each record, and one is gone."""
    host, other = scene.machine(copies=True, min_insync_replicas=2), scene.brokers[scene.drawn.place % 3]
    with scene.captured(host, lambda: scene.write(host, acks="all")):
        scene.lab.did(f"{called(other)}, which follows, is killed")
        other.kill()
        time.sleep(scene.s)
    if scene.drawn.at_client:  # where only the leader is seen, which waits for it
        return Told(
            ["broker_gone", "not_enough_replicas", "broker_stalled"],
            [[other.address, scene.broker.address, f"{scene.topic}-0", scene.topic]],
        )
    return Told(["broker_gone", "not_enough_replicas"], [[other.address, f"{scene.topic}-0", scene.topic]])


@cause(0.3, 0.9, "share of each 500 ms", least=0.5)
def follower_slow(scene: Scene) -> Told:
    host, other = scene.machine(copies=True), scene.brokers[scene.drawn.place % 3]
    with scene.captured(host, lambda: scene.write(host, acks="all")):
        with scene.lab.doing(f"{called(other)}, which follows, stands still for {scene.s:.0%} of each 500 ms"):
            end = time.monotonic() + 10
            while time.monotonic() < end:
                other.pause(0.5 * scene.s)
                time.sleep(0.5 * (1 - scene.s))
        time.sleep(1)
    # Beside the client only the leader is seen, which waits for it.
    leader = [scene.broker.address] if scene.drawn.at_client else []
    return Told(["slow_replication", *STALLED], [[other.address, other.host.address, *leader]])


@cause(10, 14)  # s that are captured after it
def unclean_election(scene: Scene) -> Told:
    """What only the leader had, and had acknowledged, is gone."""
    host, other = (
        scene.machine(copies=True, unclean_leader_election_enable="true"),
        scene.brokers[scene.drawn.place % 3],
    )
    with scene.captured(host, lambda: scene.write(host, acks="1")):
        with scene.lab.doing(f"{called(other)} stands still, until it is not in sync"):
            other.signal(signal.SIGSTOP)
            time.sleep(9)
        scene.lab.did(f"{called(scene.broker)}, which leads alone, is killed")
        scene.broker.kill()
        # A client that was slow to start had nothing acknowledged.
        is_lost = _stored(scene.broker, scene.topic) > _stored(other, scene.topic)
        other.signal(signal.SIGCONT)
        time.sleep(scene.s)
    return Told(["acknowledged_lost"], [[f"{scene.topic}-0", scene.topic]], above=is_lost)


def _stored(broker: Broker, topic: str) -> int:
    """Bytes of records."""
    return sum(path.stat().st_size for path in (broker.data / "logs" / f"{topic}-0").glob("*.log"))


@cause(8, 14)  # s that are captured after it
def controller_gone(scene: Scene) -> Told:
    """Records flow as before; who would make a topic waits in vain."""
    host = scene.machine()
    with scene.captured(host, lambda: scene.write(host)):
        scene.lab.did("the controller is killed")
        next(each for each in scene.lab.brokers if each.number == 100).kill()
        scene.lab.start(host, _installs, scene.lab.bootstrap, f"{scene.topic}-new")
        time.sleep(scene.s)
    return Told(["controller_gone", "unexplained", "slow_requests", "unanswered", "request_timed_out", "failing"], [])


def _installs(bootstrap: str, topic: str) -> None:
    while True:
        with contextlib.suppress(Exception):
            make_topics(bootstrap, {topic: {}})
        time.sleep(1)
