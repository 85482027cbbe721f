"""One of two brokers was killed 8 s before the capture begins: clients keep asking for it; Java 2.8 and kafka-python."""

import time

from lab.jars import OLD_LIBRARY
from lab.javaclient import java_produce
from lab.pythonclient import python_consume, python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    lab.start(desk, python_produce, lab.bootstrap, "ticket-desk", "tickets", per_s=20)
    lab.start(desk, python_consume, lab.bootstrap, "ticket-view", "view", "tickets")
    java_produce(lab, desk, "ticket-java", "tickets", per_s=20, library=OLD_LIBRARY)
    time.sleep(8)
    lab.did(f"broker 2 ({broker.address}) is killed")
    broker.kill()
    time.sleep(8)
    with lab.capture(desk):
        time.sleep(15)
    return Truth(["broker_gone", "no_leader"], [[broker.address, "tickets"]])
