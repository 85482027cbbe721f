"""A Java consumer (2.8) is set to fetch.max.wait.ms=0; connected long before, 96 bytes a packet, seen beside it."""

import time

from lab.clients import produce
from lab.jars import OLD_LIBRARY
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster()
    lab.topics(alarms={"partitions": 1})
    desk = lab.host("desk")
    lab.start(desk, produce, lab.bootstrap, "alarm-feed", "alarms", per_s=1)
    java_consume(lab, desk, "alarm-log", "alarm-log", "alarms", library=OLD_LIBRARY)
    java_consume(lab, desk, "alarm-desk", "alarm-desk", "alarms", library=OLD_LIBRARY, fetch_max_wait_ms="0")
    time.sleep(10)
    lab.snap = 96
    with lab.capture(desk):
        time.sleep(5)
    return Truth(["fetch_spin"], [["alarm-desk"]])
