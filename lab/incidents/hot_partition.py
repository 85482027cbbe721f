"""A producer gives most of its records the same key: one partition of eight gets nearly all."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, visits={"partitions": 8})
    web = lab.host("web")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(web, produce, lab.bootstrap, "visit-tracker", "visits", per_s=200, key="guest", linger_ms=100)
        lab.start(web, produce, lab.bootstrap, "member-tracker", "visits", per_s=30, sticky_partitioning_linger_ms=0)
        time.sleep(18)
    what = "visit-tracker sends 200 records/s with the key `guest`, member-tracker 30 records/s to all partitions."
    return Truth(["skewed_partitions"], [["visits"]], what)
