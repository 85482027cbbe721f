"""A day at the office: an administrator's tools come and go, each for a second, beside clients at work."""

import time

from lab import background
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    desk = lab.host("desk")
    with lab.capture(broker.host):
        background.shop(lab)
        for words in (("--list",), ("--describe", "--topic", "orders"), ("--create", "--topic", "new-topic")):
            with lab.doing(f"kafka-topics.sh {' '.join(words)} on {desk.address}"):
                lab.tool("org.apache.kafka.tools.TopicCommand", *words, on=desk)
            time.sleep(1)
        with lab.doing(f"kafka-consumer-groups.sh --describe on {desk.address}"):
            words = ("--describe", "--group", "packing")
            lab.tool("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *words, on=desk)
        time.sleep(4)
    return Truth()
