"""One of two clients that come by IPv6 loses 3 % of all packets each way; seen beside the broker, from the middle."""

import time

from lab.clients import consume, produce
from lab.ipv6 import SIX, six_listener
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = six_listener(lab)
    lab.topics(scans={"partitions": 2})
    desk, yard = lab.host("desk"), lab.wire("yard", Habits(delay_s=0.008, loss_out=0.03, loss_into=0.03)).host
    desk.add_ipv6("fd00:20::101")
    yard.add_ipv6("fd00:20::102")
    lab.ipv6 = True
    lab.start(desk, produce, SIX, "desk-scans", "scans", per_s=20)
    lab.start(desk, consume, SIX, "scan-list", "scan-list", "scans")
    java_produce(lab, yard, "yard-scans", "scans", per_s=60, bootstrap_servers=SIX)
    lab.start(yard, consume, SIX, "yard-list", "yard-list", "scans")
    time.sleep(8)
    with lab.capture(broker.host):
        time.sleep(16)
    return Truth(["lossy_network"], [["fd00:20::102", "yard-scans", "yard-list"]])
