"""The only broker stood still when the capture began, and goes on after 2.5 s; clients of kafka-python and Java."""

import signal
import time

from lab.javaclient import java_produce
from lab.pythonclient import python_consume, python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(parcels={"partitions": 2})
    hall, gate = lab.host("hall"), lab.host("gate")
    lab.start(hall, python_produce, lab.bootstrap, "hall-scan", "parcels", per_s=20)
    lab.start(hall, python_consume, lab.bootstrap, "hall-list", "hall", "parcels")
    java_produce(lab, gate, "gate-scan", "parcels", per_s=20)
    time.sleep(10)
    broker.signal(signal.SIGSTOP)
    with lab.capture(broker.host):
        with lab.doing(f"broker 1 ({broker.address}) still stands still (SIGSTOP)"):
            time.sleep(2.5)
        broker.signal(signal.SIGCONT)
        time.sleep(12)
    return Truth(["broker_stalled"], [[broker.address]])
