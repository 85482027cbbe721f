"""One client behind a link that loses 2 % of all packets each way."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, scans={"partitions": 1})
    wire = lab.wire("yard", Habits(delay_s=0.002, loss_out=0.02, loss_into=0.02))
    healthy = lab.wire("hall", Habits(delay_s=0.002))
    with lab.capture(broker.host, client=wire.host):
        background.shop(lab)
        lab.start(wire.host, produce, lab.bootstrap, "yard-scanner", "scans", per_s=60, size=600, linger_ms=0)
        lab.start(healthy.host, produce, lab.bootstrap, "hall-scanner", "scans", per_s=20, linger_ms=0)
        time.sleep(35)
    return Truth(
        ["lossy_network"], [["yard-scanner", wire.host.address]], f"It is yard-scanner at {wire.host.address}."
    )
