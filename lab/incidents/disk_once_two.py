"""The disk of one of two brokers stands still for 4 s once; acks=1, kafka-python and librdkafka; seen beside that broker."""

import time

from lab.clients import consume, produce
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, two = lab.cluster(2, disks=[2])
    lab.topics(rides={"assignment": [[1], [2]]})
    desk, hall = lab.host("desk"), lab.host("hall")
    with lab.capture(two.host):
        lab.start(desk, python_produce, lab.bootstrap, "ride-python", "rides", per_s=25, acks=1)
        lab.start(hall, produce, lab.bootstrap, "ride-feed", "rides", per_s=30, acks="1")
        lab.start(hall, consume, lab.bootstrap, "ride-list", "ride-list", "rides")
        time.sleep(12)
        with lab.doing("the disk of broker 2 stands still"):
            lab.disks[2].freeze(4)
        time.sleep(9)
    return Truth(["broker_stalled", "slow_broker"], [[two.address]])
