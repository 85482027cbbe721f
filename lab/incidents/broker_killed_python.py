"""One of two brokers is killed while kafka-python's clients need it; seen beside them, to the end of the trouble and not beyond."""

import time

from lab.pythonclient import python_consume, python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    lab.start(desk, python_produce, lab.bootstrap, "ticket-desk", "tickets", per_s=20)
    lab.start(desk, python_consume, lab.bootstrap, "ticket-view", "view", "tickets")
    time.sleep(8)
    with lab.capture(desk):
        time.sleep(6)
        lab.did(f"broker 2 ({broker.address}) is killed")
        broker.kill()
        time.sleep(12)
    return Truth(["broker_gone"], [[broker.address]])
