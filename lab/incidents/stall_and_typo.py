"""Two things at once: a broker stands still for 3 s, and a Java client writes to a topic that is not there."""

import time

from lab import background
from lab.javaclient import java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(orders={"assignment": [[1], [2]]})
    till = lab.host("till")
    with lab.capture(lab.network.hub):
        background.shop(lab, per_s=20)
        java_produce(lab, till, "till-sales", "sale", per_s=5)
        time.sleep(10)
        with lab.doing(f"broker 2 ({broker.address}) stands still (SIGSTOP)"):
            broker.pause(3)
        time.sleep(10)
    causes = ["broker_stalled", "missing_topic"]
    return Truth(causes, [[broker.address, "till-sales", "sale"]], "Both are equally true.")
