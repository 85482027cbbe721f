"""A Java consumer 60 ms away has the receive buffer of old defaults, 64 KiB: its large fetches crawl on a link with room."""

import time

from lab import background
from lab.clients import consume
from lab.javaclient import java_consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, history={"partitions": 1})
    lab.fill("history", 6000, 1000)
    office = lab.wire("office", Habits(delay_s=0.03))
    near = lab.wire("depot", Habits(delay_s=0.03))
    with lab.capture(broker.host):
        background.shop(lab)
        java_consume(lab, office.host, "office-report", "office-report", "history", receive_buffer_bytes="65536")
        lab.start(near.host, consume, lab.bootstrap, "depot-import", "depot-import", "history")
        time.sleep(18)
    what = f"It is office-report at {office.host.address}; depot-import is as far away, and its buffer grows."
    return Truth(["small_receive_buffer"], [["office-report", office.host.address]], what)
