"""Clients come through a TCP proxy; a broker behind it is killed: the proxy accepts, and hangs up at once."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.proxied import proxied
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    proxy, brokers, bootstrap = proxied(lab, 2)
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    with lab.capture(desk):
        lab.start(desk, produce, bootstrap, "ticket-desk", "tickets", per_s=20)
        lab.start(desk, consume, bootstrap, "ticket-view", "view", "tickets")
        java_produce(lab, desk, "ticket-java", "tickets", per_s=20, bootstrap_servers=bootstrap)
        time.sleep(10)
        lab.did(f"broker 2, behind {proxy.address}:9202, is killed")
        brokers[1].kill()
        time.sleep(14)
    return Truth(["broker_gone"], [[f"{proxy.address}:9202"]])
