"""Two producers with the same transactional id throw each other out by turns; each is started anew after that."""

import os
import time

from lab import background
from lab.session import Lab, Truth
from lab.tricks import produce_in_transactions


def _again_and_again(bootstrap: str, client: str, transactional: str, topic: str, times: int) -> None:
    for _ in range(times):
        life = os.fork()
        if not life:
            produce_in_transactions(bootstrap, client, transactional, topic, 40.0)
            os._exit(0)
        os.waitpid(life, 0)
        time.sleep(2)


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2)
    lab.topics(orders=background.ORDERS, ledger={"partitions": 2})
    one, two = lab.host("bank-1"), lab.host("bank-2")
    with lab.capture(*(broker.host for broker in brokers)):
        background.shop(lab, per_s=5)
        lab.start(one, _again_and_again, lab.bootstrap, "bank-a", "bank-tx", "ledger", 9)
        time.sleep(4)
        lab.did(f"bank-b at {two.address} has the transactional id of bank-a")
        lab.start(two, _again_and_again, lab.bootstrap, "bank-b", "bank-tx", "ledger", 9)
        time.sleep(18)
    return Truth(["fenced_producer"], [["bank-tx", "bank-a", "bank-b"]])
