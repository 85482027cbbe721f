"""A producer left a transaction open that no coordinator knows of: readers of committed data get nothing."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth
from lab.tricks import leave_transaction_open


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings={"transaction.partition.verification.enable": "false"})
    lab.topics(orders=background.ORDERS, ledger={"partitions": 1}, trail={"partitions": 1})
    bank = lab.host("bank")
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "till-ledger", "ledger", per_s=5)
        lab.start(shop, consume, lab.bootstrap, "ledger-report", "report", "ledger", isolation_level="read_committed")
        time.sleep(5)
        lab.did("bank-old writes a transactional batch to ledger-0 that no coordinator knows of; its timeout is 10 s")
        bank.call(leave_transaction_open, broker.address, "bank-old", "old-tx", "ledger")
        time.sleep(40)
    return Truth(["hanging_transaction"], [["ledger"]])
