"""Clients come through a TCP proxy; a group grows and shrinks; seen beside a client, from the first packet."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.proxied import proxied
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, _, bootstrap = proxied(lab, 2)
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    with lab.capture(desk):
        lab.start(desk, produce, bootstrap, "ticket-desk", "tickets", per_s=20)
        first = lab.start(desk, consume, bootstrap, "ticket-view", "view", "tickets")
        java_produce(lab, desk, "ticket-java", "tickets", per_s=20, bootstrap_servers=bootstrap)
        time.sleep(6)
        java_consume(lab, desk, "ticket-next", "view", "tickets", bootstrap_servers=bootstrap)
        time.sleep(7)
        first.stop()
        time.sleep(6)
    return Truth()
