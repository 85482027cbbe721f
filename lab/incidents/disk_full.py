"""The disk of one of two brokers is full: the broker gives up its only log directory, and ends."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2, disks=[2], settings={"log.segment.bytes": "1048576", "log.preallocate": "false"})
    lab.topics(orders={"assignment": [[1], [1]]}, films={"assignment": [[2]]})
    studio = lab.host("studio")
    with lab.capture(lab.network.hub):
        background.shop(lab)
        lab.start(studio, produce, lab.bootstrap, "studio-upload", "films", per_s=10)
        lab.start(studio, consume, lab.bootstrap, "studio-view", "view", "films")
        time.sleep(9)
        with lab.doing(f"the disk of broker 2 ({broker.address}) is filled"):
            lab.disks[2].fill()
        time.sleep(16)
    return Truth(["broker_gone"], [[broker.address]])
