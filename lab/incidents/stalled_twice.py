"""One of two brokers stands still for 1.2 s, twice; kafka-python's clients use it. Seen beside one of them."""

import time

from lab import background
from lab.pythonclient import python_consume, python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(orders=background.ORDERS, tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    lab.start(desk, python_produce, lab.bootstrap, "ticket-desk", "tickets", per_s=30)
    lab.start(desk, python_consume, lab.bootstrap, "ticket-view", "view", "tickets")
    background.shop(lab)
    time.sleep(8)
    with lab.capture(desk):
        time.sleep(6)
        for _ in range(2):
            with lab.doing(f"broker 2 ({broker.address}) stands still (SIGSTOP)"):
                broker.pause(1.2)
            time.sleep(6)
    return Truth(["broker_stalled"], [[broker.address]])
