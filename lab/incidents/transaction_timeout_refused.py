"""A producer asks for a longer transaction.timeout.ms than the broker allows: it is refused at each of its starts."""

import time

from lab import background
from lab.clients import config, running, said
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings={"transaction.max.timeout.ms": "60000"})
    lab.topics(orders=background.ORDERS)
    bank = lab.host("bank")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(bank, _begin, lab.bootstrap, "bank-one", 60)
        time.sleep(18)
    return Truth(["failing"], [["bank-one"], ["INVALID_TRANSACTION_TIMEOUT"]])


def _begin(bootstrap: str, client: str, seconds: float) -> None:
    from confluent_kafka import KafkaException, Producer

    run = running(seconds)
    while run:
        names = {"transactional_id": "bank-tx", "transaction_timeout_ms": 900_000}
        try:
            Producer(config(bootstrap, client, names)).init_transactions(10)
        except KafkaException as error:
            said(client, error)
        time.sleep(2)
