"""A topic was made anew while its consumer was away: the committed offset lies beyond the end."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth
from lab.upkeep import commit_offset


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, trips={"partitions": 1})
    lab.fill("trips", 500, 100)
    lab.admin.call(commit_offset, lab.bootstrap, "fleet", "trips", 9000)
    fleet = lab.host("fleet")
    with lab.capture(broker.host):
        background.shop(lab)
        time.sleep(3)
        lab.did("fleet-map starts at the committed offset 9000; the end of trips is 500")
        lab.start(fleet, consume, lab.bootstrap, "fleet-map", "fleet", "trips", auto_offset_reset="latest")
        time.sleep(9)
    return Truth(["offset_out_of_range"], [["fleet-map"], ["trips"]])
