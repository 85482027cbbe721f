"""A cache reads its topic from the beginning at each of its starts, though its group commits; records come in."""

import time
from typing import Any

from lab import background
from lab.clients import config, produce, running
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, prices={"partitions": 1})
    lab.fill("prices", 1500, 60)
    front = lab.host("shop-front")
    with lab.capture(broker.host):
        background.shop(lab, per_s=2)
        lab.start(front, produce, lab.bootstrap, "price-feed", "prices", per_s=3)
        for _ in range(4):
            with lab.doing("price-cache runs"):
                lab.start(front, _cache, lab.bootstrap, "price-cache", "cache", "prices", 5).wait(30)
            time.sleep(1)
    return Truth()


def _cache(bootstrap: str, client: str, group: str, topic: str, seconds: float) -> None:
    from confluent_kafka import OFFSET_BEGINNING, Consumer

    def begin(consumer: Any, partitions: list[Any]) -> None:
        for each in partitions:
            each.offset = OFFSET_BEGINNING
        consumer.assign(partitions)

    consumer = Consumer(config(bootstrap, client, {"group_id": group, "auto_commit_interval_ms": 1000}))
    consumer.subscribe([topic], on_assign=begin)
    run = running(seconds)
    while run:
        consumer.poll(0.2)
    consumer.close()
