"""A consumer fails at one record and leaves in order; its supervisor starts it anew, and it gets the same record again."""

import time
from typing import Any

from lab import background
from lab.clients import config, produce, running, said
from lab.session import Lab, Truth

_POISONED = 30


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, bills={"partitions": 1})
    box = lab.host("billing")
    with lab.capture(broker.host):
        background.shop(lab, per_s=2)
        lab.start(box, produce, lab.bootstrap, "bill-feed", "bills", per_s=6)
        lab.start(box, _consume, lab.bootstrap, "biller", "billing", "bills", 60)
        time.sleep(34)
    what = f"biller fails at the record {_POISONED} of bills-0, and commits what is before it."
    return Truth(["rereads"], [["biller", "billing"], ["bills"]], what)


def _consume(bootstrap: str, client: str, group: str, topic: str, seconds: float) -> None:
    from confluent_kafka import Consumer

    names: dict[str, Any] = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    run = running(seconds)
    while run:
        consumer = Consumer(config(bootstrap, client, names))
        consumer.subscribe([topic])
        while run:
            message = consumer.poll(0.2)
            if message is None or message.error():
                continue
            if message.offset() == _POISONED:
                said(client, "cannot read record", _POISONED)
                break
            consumer.commit(message, asynchronous=False)
        consumer.close()
        time.sleep(2)
