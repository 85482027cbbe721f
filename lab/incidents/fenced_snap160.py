"""Two producers use the same transactional id at Kafka 4.1; the first has been at work for long; 160 bytes a packet."""

import time

from lab.jars import NEW_VERSION
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.tricks import produce_in_transactions


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version=NEW_VERSION)
    lab.topics(ledger={"partitions": 1})
    one, two = lab.host("bank-1"), lab.host("bank-2")
    java_produce(lab, one, "bank-java", "ledger", per_s=20, library=NEW_VERSION)
    lab.start(one, produce_in_transactions, lab.bootstrap, "bank-one", "bank-tx", "ledger", 40.0)
    time.sleep(8)
    lab.snap = 160
    with lab.capture(broker.host):
        time.sleep(6)
        lab.did(f"bank-two at {two.address} starts with the transactional id of bank-one")
        lab.start(two, produce_in_transactions, lab.bootstrap, "bank-two", "bank-tx", "ledger", 10.0)
        time.sleep(10)
    return Truth(["fenced_producer"], [["bank-one"]])
