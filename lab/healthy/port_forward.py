"""Clients reach the broker through a forwarder on their own machine (socat), captured on all its interfaces."""

import time

from lab.clients import consume, produce
from lab.middle import advertised, socat
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2, settings=advertised("127.0.0.1"))
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk = lab.host("desk")
    for each in brokers:
        socat(
            lab,
            desk,
            f"TCP-LISTEN:{9200 + each.number},fork,reuseaddr,nodelay",
            f"TCP:{each.host.address}:9094,nodelay",
        )
    with lab.capture(desk, interface="any"):
        bootstrap = "127.0.0.1:9201,127.0.0.1:9202"
        lab.start(desk, produce, bootstrap, "desk", "tickets", per_s=10, seconds=10)
        lab.start(desk, consume, bootstrap, "desk-view", "view", "tickets", seconds=12)
        time.sleep(14)
    return Truth()
