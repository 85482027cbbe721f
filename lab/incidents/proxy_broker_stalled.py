"""Clients come through a TCP proxy; a broker behind it stands still for 3.5 s; from the middle, beside a client."""

import time

from lab.clients import produce
from lab.jars import OLD_LIBRARY
from lab.javaclient import java_consume, java_produce
from lab.proxied import proxied
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    proxy, brokers, bootstrap = proxied(lab, 2)
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    lab.start(desk, produce, bootstrap, "ticket-desk", "tickets", per_s=20, linger_ms=0)
    old = {"bootstrap_servers": bootstrap, "library": OLD_LIBRARY}
    java_produce(lab, desk, "ticket-java", "tickets", per_s=30, **old)
    java_consume(lab, desk, "ticket-view", "view", "tickets", **old)
    time.sleep(10)
    with lab.capture(desk):
        time.sleep(7)
        with lab.doing(f"broker 2, behind {proxy.address}:9202, stands still (SIGSTOP)"):
            brokers[1].pause(3.5)
        time.sleep(6)
    return Truth(["broker_stalled"], [[f"{proxy.address}:9202"]])
