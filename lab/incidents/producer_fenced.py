"""Two producers use the same transactional id: the first is fenced off when the second starts."""

import time

from lab import background
from lab.session import Lab, Truth
from lab.tricks import produce_in_transactions


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ledger={"partitions": 1})
    one, two, three = lab.host("bank-1"), lab.host("bank-2"), lab.host("audit")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(three, produce_in_transactions, lab.bootstrap, "audit-trail", "audit-tx", "ledger", 18.0)
        lab.start(one, produce_in_transactions, lab.bootstrap, "bank-one", "bank-tx", "ledger", 18.0)
        time.sleep(7)
        lab.did(f"bank-two at {two.address} starts with the transactional id of bank-one")
        lab.start(two, produce_in_transactions, lab.bootstrap, "bank-two", "bank-tx", "ledger", 10.0)
        time.sleep(11)
    return Truth(["fenced_producer"], [["bank-one"]])
