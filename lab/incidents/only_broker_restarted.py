"""The only broker is stopped for 23 s and started again; clients of three libraries try to get back to it."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders={"partitions": 2})
    web, batch = lab.host("web"), lab.host("batch")
    with lab.capture(lab.network.hub):
        lab.start(web, produce, lab.bootstrap, "web", "orders", per_s=5)
        lab.start(web, python_produce, lab.bootstrap, "web-python", "orders", 5)
        java_produce(lab, batch, "batch-java", "orders", per_s=5)
        lab.start(batch, consume, lab.bootstrap, "batch", "batch", "orders")
        time.sleep(8)
        with lab.doing("the only broker is stopped (SIGTERM), and started again"):
            broker.stop()
            time.sleep(18)
            broker.start()
            broker.wait()
        time.sleep(8)
    return Truth(["broker_gone"], [[broker.address]])
