"""The link of one of two brokers loses 3 % of all packets each way: all its clients suffer."""

import time

from lab.clients import produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    bad = Habits(delay_s=0.001, loss_out=0.03, loss_into=0.03)
    _, broker = lab.cluster(2, habits={2: bad})
    lab.topics(orders={"assignment": [[2]]}, scans={"assignment": [[2]]}, clicks={"assignment": [[1], [2]]})
    hosts = [lab.host(name) for name in ("shop", "yard", "web")]
    quick = {"per_s": 50, "size": 400, "linger_ms": 0, "sticky_partitioning_linger_ms": 0}
    with lab.capture(*hosts):
        for host, client, topic in zip(
            hosts, ("shop-orders", "yard-scans", "web-clicks"), ("orders", "scans", "clicks"), strict=False
        ):
            lab.start(host, produce, lab.bootstrap, client, topic, **quick)
        time.sleep(24)
    return Truth(["lossy_network"], [[broker.address, broker.host.address]], f"It is broker 2 at {broker.address}.")
