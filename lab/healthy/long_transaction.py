"""One transaction is open for 25 s, within its timeout of a minute, while others write to the same partition."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth
from lab.tricks import produce_one_long_transaction


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ledger={"partitions": 1})
    bank, audit = lab.host("bank"), lab.host("audit")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(bank, produce, lab.bootstrap, "till-ledger", "ledger", per_s=5)
        lab.start(audit, consume, lab.bootstrap, "audit", "audit", "ledger", isolation_level="read_committed")
        time.sleep(3)
        with lab.doing("bank-night has a transaction open"):
            lab.start(bank, produce_one_long_transaction, lab.bootstrap, "bank-night", "night-tx", "ledger", 25.0).wait(
                45
            )
        time.sleep(4)
    return Truth()
