"""A firewall forgets IPv6 connections that were idle for 9 s, without a word; behind it a Java producer (4.1)."""

import time

from lab.clients import produce
from lab.ipv6 import SIX, six_listener
from lab.jars import NEW_VERSION
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    six_listener(lab, version=NEW_VERSION)
    lab.topics(alarms={"partitions": 1})
    desk, hut = lab.host("desk"), lab.wire("hut", Habits(delay_s=0.004, forget_after_s=9)).host
    desk.add_ipv6("fd00:20::101")
    hut.add_ipv6("fd00:20::102")
    lab.ipv6 = True
    quick = {"request_timeout_ms": "5000", "delivery_timeout_ms": "20000", "bootstrap_servers": SIX}
    with lab.capture(hut):
        lab.start(desk, produce, SIX, "desk-alarms", "alarms", per_s=5)
        java_produce(lab, hut, "hut-alarms", "alarms", per_s=1 / 12, library=NEW_VERSION, **quick)
        time.sleep(55)
    return Truth(["idle_killed"], [["hut-alarms", "fd00:20::102"], [SIX, "fd00:20::11"]])
