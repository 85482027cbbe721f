"""Short transactions without a pause between them: the next begins before the last one's markers are written."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth
from lab.tricks import produce_in_transactions


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ledger={"partitions": 4})
    bank, audit = lab.host("bank"), lab.host("audit")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        committed = {"isolation_level": "read_committed"}
        lab.start(audit, consume, lab.bootstrap, "audit", "audit", "ledger", **committed)
        work = ("ledger", 6.0)
        lab.start(bank, produce_in_transactions, lab.bootstrap, "bank-one", "bank-one-tx", *work, pause_s=0.0).wait(20)
        time.sleep(2)
    return Truth()
