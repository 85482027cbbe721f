"""Producers write in transactions, now and then one is aborted; readers of committed data follow."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth
from lab.tricks import produce_in_transactions


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ledger={"partitions": 2})
    bank, audit = lab.host("bank"), lab.host("audit")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(bank, produce_in_transactions, lab.bootstrap, "bank-one", "bank-one-tx", "ledger", 18.0, abort_each=7)
        lab.start(bank, produce_in_transactions, lab.bootstrap, "bank-two", "bank-two-tx", "ledger", 18.0)
        committed = {"isolation_level": "read_committed"}
        lab.start(audit, consume, lab.bootstrap, "audit", "audit", "ledger", **committed)
        time.sleep(20)
    return Truth()
