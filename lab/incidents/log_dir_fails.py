"""One of two log directories of a broker fails, as its disk is full: the broker goes on without the partitions in it."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    small = {"log.segment.bytes": "1048576", "log.preallocate": "false"}
    _, broker = lab.cluster(2, disks=[2], more_dirs=[2], settings=small, own_controller=True)
    lab.topics(orders={"assignment": [[1], [1]]}, films={"assignment": [[2], [2], [2], [2]]})
    studio = lab.host("studio")
    with lab.capture(lab.network.hub):
        background.shop(lab)
        lab.start(studio, produce, lab.bootstrap, "studio-upload", "films", per_s=20)
        lab.start(studio, consume, lab.bootstrap, "studio-view", "view", "films")
        time.sleep(8)
        with lab.doing(f"the disk with one of the two log directories of broker 2 ({broker.address}) is filled"):
            lab.disks[2].fill()
        time.sleep(18)
    return Truth(["log_dir_offline"], [["broker 2", broker.address]])
