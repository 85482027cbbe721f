"""A consumer fails at one record and leaves in order; its supervisor starts it anew, and it gets the same record again."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth
from lab.tricks import consume_up_to

_POISONED = 30


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, bills={"partitions": 1})
    box = lab.host("billing")
    with lab.capture(broker.host):
        background.shop(lab, per_s=2)
        lab.start(box, produce, lab.bootstrap, "bill-feed", "bills", per_s=6)
        lab.start(box, consume_up_to, lab.bootstrap, "biller", "billing", "bills", _POISONED)
        time.sleep(34)
    what = f"biller fails at the record {_POISONED} of bills-0, and commits what is before it."
    return Truth(["rereads"], [["biller", "billing"], ["bills"]], what)
