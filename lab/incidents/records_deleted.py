"""DeleteRecords takes away what a slow consumer has not read yet, again and again; kafka-python."""

import time

from lab import background
from lab.clients import produce
from lab.pythonclient import python_consume
from lab.session import Lab, Truth
from lab.upkeep import delete_records


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, tides={"partitions": 1})
    # Small batches: a fetch takes one at least, however large it is.
    lab.start(lab.admin, produce, lab.bootstrap, "setup", "tides", 400, 200, 6.0, batch_num_messages=10).wait(30)
    pier = lab.host("pier")
    slow = {"max_poll_records": 10, "max_partition_fetch_bytes": 4000}
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "tide-feed", "tides", per_s=20)
        lab.start(pier, python_consume, lab.bootstrap, "tide-table", "tide-table", "tides", 120, 0.02, **slow)
        time.sleep(8)
        for before in (1200, 2200):
            with lab.doing(f"records of tides-0 before {before} are deleted"):
                lab.admin.call(delete_records, lab.bootstrap, "tides", before)
            time.sleep(8)
    return Truth(["offset_out_of_range"], [["tide-table"], ["tides"]])
