"""A tunnel begins to drop packets of more than 1,200 bytes, without a word: large requests never arrive; seen beside the client."""

import time

from lab.background import ORDERS, shop
from lab.clients import produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(1, version="4.1.0")
    lab.topics(scans={"partitions": 1}, orders=ORDERS)
    shop(lab)
    ward = lab.wire("ward", Habits())
    lab.start(
        ward.host,
        produce,
        lab.bootstrap,
        "ward-scans",
        "scans",
        per_s=4,
        size=5000,
        linger_ms=0,
        socket_timeout_ms=6000,
    )
    time.sleep(4)
    with lab.capture(ward.host):
        time.sleep(4)
        with lab.doing("packets of more than 1,200 bytes vanish on the way out"):
            ward.change(most_bytes=1200)
            time.sleep(22)
    return Truth(["mtu_black_hole"], [[ward.host.address], [broker.address]])
