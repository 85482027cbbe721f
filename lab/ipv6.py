"""A broker with a listener for IPv6."""

from __future__ import annotations

from lab.brokers import Broker
from lab.jars import BROKER_VERSION
from lab.session import Lab

SIX = "[fd00:20::11]:9094"


def six_listener(lab: Lab, version: str = BROKER_VERSION, advertised: str = SIX) -> list[Broker]:
    """One broker, whose port 9094 is reached by IPv6 alone; `advertised` is the address that it gives for it."""
    settings = {
        "listeners": f"PLAINTEXT://{{address}}:9092,SIX://{SIX},CONTROLLER://{{address}}:9093",
        "advertised.listeners": f"PLAINTEXT://{{address}}:9092,SIX://{advertised}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SIX:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
    }
    (broker,) = lab.cluster(settings=settings, start=False, version=version)
    broker.host.add_ipv6("fd00:20::11")
    broker.start()
    broker.wait()
    return [broker]
