"""Two of three brokers stand still for 3 s, one after the other; seen beside a machine of kafka-python."""

import time

from lab.pythonclient import python_consume, python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, two, three = lab.cluster(3)
    lab.topics(scans={"assignment": [[1], [2], [3]]})
    desk = lab.host("desk")
    lab.start(desk, python_produce, lab.bootstrap, "scan-feed", "scans", per_s=60)
    lab.start(desk, python_consume, lab.bootstrap, "scan-list", "scan-list", "scans")
    time.sleep(8)
    with lab.capture(desk):
        for broker in (two, three):
            time.sleep(6)
            with lab.doing(f"broker {broker.number} ({broker.address}) stands still (SIGSTOP)"):
                broker.pause(3)
        time.sleep(6)
    return Truth(["broker_stalled"], [[two.address, three.address]])
