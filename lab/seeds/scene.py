"""What a cause has in its hands: brokers that many seeds share, and topics, machines and a capture that are the seed's own."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from lab.brokers import Broker
from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.namespaces import Host
from lab.otherclients import GO, go_client, node_client
from lab.pythonclient import python_consume, python_produce
from lab.seeds.causes import LIBRARIES, Draw
from lab.session import Lab
from lab.wire import Habits, Wire

SECURE, OUTSIDE = 9094, 9095
# Of libraries whose clients have no id of ours.
_OWN_IDS = {"franz-go": "kgo", "sarama": "sarama", "kafkajs": "kafkajs"}
SETTABLE = ("librdkafka", "java-3.9.1", "java-4.1.0")
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SETTINGS = {
    "listeners": f"PLAINTEXT://{{address}}:9092,SASL://{{address}}:{SECURE},OUTSIDE://{{address}}:{OUTSIDE}"
    ",CONTROLLER://{address}:9093",
    "advertised.listeners": f"PLAINTEXT://{{address}}:9092,SASL://{{address}}:{SECURE},OUTSIDE://10.99.0.{{number}}:{OUTSIDE}",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,OUTSIDE:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl.plain.sasl.jaas.config": f'{_PLAIN} required user_app="right" user_guest="right";',
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:app",
    "replica.lag.time.max.ms": "5000",
    "group.max.size": "6",
}


def world(folder: Path, version: str) -> Lab:
    """Three brokers and a controller for seeds of a version, one after the other."""
    lab = Lab(folder)
    try:
        lab.cluster(3, SETTINGS, own_controller=True, disks=[2], version=version)
        lab.topics(orders={"partitions": 2, "replicas": 3})
    except BaseException:
        lab.close()
        raise
    return lab


class Scene:
    """One seed in a world."""

    shop: ClassVar[dict[int, Host]] = {}  # of a world: machine of the innocent others

    def __init__(self, lab: Lab, drawn: Draw, folder: Path) -> None:
        self.lab, self.drawn, self.s = lab, drawn, drawn.strength
        self.name, self.topic = drawn.name, drawn.topic
        self.chance = random.Random(f"scene {drawn.seed}")
        self.brokers = [broker for broker in lab.brokers if broker.number != 100]
        self.broker = self.brokers[drawn.place - 1]
        lab.folder, lab.snap, lab.steps, lab.captures, lab.captured_at = folder, drawn.snap, [], {}, {}
        self._children, self._programs = len(lab.network.children), len(lab.programs)
        self._hosts = 0

    # -- machines and clients ---------------------------------------------------------------------------------------

    def host(self) -> Host:
        self._hosts += 1
        return self.lab.host(f"s{self.drawn.seed}h{self._hosts}")

    def wire(self, habits: Habits) -> Wire:
        self._hosts += 1
        return self.lab.wire(f"s{self.drawn.seed}h{self._hosts}", habits)

    def make(self, copies: bool = False, partitions: int = 1, **settings: Any) -> None:
        """The seed's topic, led by the broker that something is done to; with a copy at the next one, if so."""
        place = self.drawn.place
        replicas = [place, place % 3 + 1] if copies else [place]
        topics: dict[str, Any] = {self.topic: {"assignment": [replicas] * partitions, "settings": settings}}
        self.lab.topics(**topics)

    def machine(self, copies: bool = False, partitions: int = 1, **settings: Any) -> Host:
        """A machine for clients of the seed's topic, which is made."""
        self.make(copies, partitions, **settings)
        return self.host()

    def who(self, host: Host) -> list[str]:
        """Words of which one must name the client."""
        return [self.name, host.address, _OWN_IDS.get(self.drawn.library, self.name)]

    def library(self, allowed: tuple[str, ...]) -> str:
        return self.drawn.library if self.drawn.library in allowed else "librdkafka"

    def write(self, host: Host, per_s: float = 20, size: int = 100, at: str | None = None, **settings: Any) -> None:
        """A producer at work; with settings it is librdkafka's or Java's."""
        library = self.library(SETTABLE if settings or size != 100 else LIBRARIES)
        lab, at = self.lab, at or self.lab.bootstrap
        if library.startswith("java") and size == 100:
            more = {name: str(value) for name, value in settings.items()}
            version = library.removeprefix("java-")
            java_produce(lab, host, self.name, self.topic, per_s, version, bootstrap_servers=at, **more)
        elif library == "python":
            lab.start(host, python_produce, at, self.name, self.topic, per_s=per_s)
        elif library in GO:
            go_client(lab, host, library, "produce", self.topic, 120, bootstrap=at)
        elif library == "kafkajs":
            node_client(lab, host, "produce", self.topic, 120, bootstrap=at)
        else:
            lab.start(host, produce, at, self.name, self.topic, per_s=per_s, size=size, **settings)

    def read(
        self, host: Host, record_s: float = 0, group: str | None = None, at: str | None = None, **settings: Any
    ) -> None:
        """A consumer at work, in a group of the client's name."""
        plain = not settings and not record_s
        library = self.library(LIBRARIES if plain else SETTABLE)
        lab, at, group = self.lab, at or self.lab.bootstrap, group or self.name
        if library.startswith("java"):
            more = {name: str(value) for name, value in settings.items()}
            version, record_ms = library.removeprefix("java-"), str(round(record_s * 1000))
            java_consume(lab, host, self.name, group, self.topic, record_ms, version, bootstrap_servers=at, **more)
        elif library == "python":
            lab.start(host, python_consume, at, self.name, group, self.topic)
        elif library in GO:
            go_client(lab, host, library, "consume", self.topic, 120, group, bootstrap=at)
        elif library == "kafkajs":
            node_client(lab, host, "consume", self.topic, 120, group, bootstrap=at)
        else:
            lab.start(host, consume, at, self.name, group, self.topic, record_s=record_s, **settings)

    def cut(self, *causes: str) -> list[str]:
        """These, where packets are cut, so that what is in longer messages is not known."""
        return list(causes) if self.drawn.snap else []

    # -- what is captured -------------------------------------------------------------------------------------------

    @contextmanager
    def captured(self, host: Host, *clients: Callable[[], object]) -> Iterator[None]:
        """Beside a machine or at the switch; clients that begin before it, or with it, are at work for a while at first."""
        begin = [self._others, *clients]
        if self.drawn.late:
            for each in begin:
                each()
            time.sleep(3)
        with self.lab.capture(host if self.drawn.at_client else self.lab.network.hub):
            if not self.drawn.late:
                for each in begin:
                    each()
            time.sleep(self.drawn.after_s)
            yield

    def _others(self) -> None:
        """Innocent others, so that a subject can be wrong."""
        lab = self.lab
        host = self.shop.get(id(lab))
        if host is None:
            host = self.shop[id(lab)] = lab.host("shop")
        seed = self.drawn.seed
        lab.start(host, produce, lab.bootstrap, "shop-orders", "orders", per_s=self.drawn.others_per_s)
        lab.start(host, consume, lab.bootstrap, "packing", f"packing-{seed}", "orders", auto_offset_reset="latest")

    def close(self) -> None:
        """Ends its clients, and has all brokers serve again."""
        lab = self.lab
        for child in lab.network.children[self._children :]:
            child.kill()
        for program in lab.programs[self._programs :]:
            program.kill()
            program.wait(10)
        del lab.network.children[self._children :], lab.programs[self._programs :]
        for broker in lab.brokers:
            if not broker.running:
                broker.kill()
                broker.start()
                broker.wait()
        time.sleep(2)


def called(broker: Broker) -> str:
    """How a step names a broker."""
    return f"broker {broker.number} ({broker.address})"
