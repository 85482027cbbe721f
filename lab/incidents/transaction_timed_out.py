"""A producer works for 14 s on a transaction whose timeout is 5 s: the broker ends it, and what is written then is refused."""

import time

from lab.background import ORDERS, shop
from lab.session import Lab, Truth
from lab.tricks import produce_slowly_in_transactions


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(1, settings={"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"})
    lab.topics(ledger={"partitions": 1}, orders=ORDERS)
    shop(lab)
    bank = lab.host("bank")
    lab.start(bank, produce_slowly_in_transactions, lab.bootstrap, "bank-batch", "bank-tx", "ledger", 14, 5)
    time.sleep(9)
    with lab.capture(broker.host):
        time.sleep(40)
    return Truth(["fenced_producer"], [["bank-tx"], ["transaction.timeout.ms"]])
