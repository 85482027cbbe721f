"""Clients of three libraries come by IPv6, work, end and start again; from the middle, seen beside the broker (Kafka 4.1)."""

import time

from lab.clients import consume, produce
from lab.ipv6 import SIX, six_listener
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume, java_produce
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = six_listener(lab, version=NEW_VERSION)
    lab.topics(scans={"partitions": 3})
    desk, yard = lab.host("desk"), lab.host("yard")
    desk.add_ipv6("fd00:20::101")
    yard.add_ipv6("fd00:20::102")
    lab.ipv6 = True
    lab.start(desk, produce, SIX, "desk-scans", "scans", per_s=10)
    lab.start(desk, python_produce, SIX, "python-scans", "scans", per_s=10)
    java_produce(lab, yard, "yard-scans", "scans", per_s=10, bootstrap_servers=SIX)
    reader = lab.start(desk, consume, SIX, "scan-list", "scan-list", "scans")
    time.sleep(8)
    with lab.capture(broker.host):
        java_consume(lab, yard, "yard-list", "scan-list", "scans", bootstrap_servers=SIX)
        time.sleep(8)
        reader.stop()
        time.sleep(6)
    return Truth()
