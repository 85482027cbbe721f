"""A producer is killed in a transaction whose timeout is 20 s: until then readers of committed data get nothing."""

import time

from lab import background
from lab.clients import config, consume, produce, said
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ledger={"partitions": 1})
    bank = lab.host("bank")
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=2)
        lab.start(shop, produce, lab.bootstrap, "till-ledger", "ledger", per_s=3)
        lab.start(shop, consume, lab.bootstrap, "ledger-report", "report", "ledger", isolation_level="read_committed")
        time.sleep(4)
        killed = lab.start(bank, _begin, lab.bootstrap)
        while not bank.log.exists() or "begun" not in bank.log.read_text():
            time.sleep(0.2)
        time.sleep(2)
        with lab.doing("bank-old is killed in its transaction"):
            killed.kill()
        time.sleep(28)
    return Truth(["hanging_transaction"], [["ledger-0"], ["bank-old"]])


def _begin(bootstrap: str) -> None:
    from confluent_kafka import Producer

    names = {"transactional_id": "bank-tx", "linger_ms": 0, "transaction_timeout_ms": 20_000}
    producer = Producer(config(bootstrap, "bank-old", names))
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce("ledger", b"the first entry")
    producer.flush(5)
    said("begun")
    time.sleep(60)
