"""A consumer that was away comes back to an offset that retention has deleted."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth
from lab.upkeep import commit_offset, delete_records


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, trips={"partitions": 1})
    lab.fill("trips", 2000, 100)
    lab.admin.call(commit_offset, lab.bootstrap, "fleet", "trips", 100)
    lab.admin.call(delete_records, lab.bootstrap, "trips", 1500)
    fleet = lab.host("fleet")
    with lab.capture(broker.host):
        background.shop(lab)
        time.sleep(3)
        lab.did("fleet-map starts at the committed offset 100; records before 1500 were deleted")
        lab.start(fleet, consume, lab.bootstrap, "fleet-map", "fleet", "trips")
        time.sleep(9)
    return Truth(["offset_out_of_range"], [["fleet-map"], ["trips"]])
