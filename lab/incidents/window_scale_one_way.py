"""A firewall takes window scaling out of the broker's SYN-ACKs only: both ends read each other's window wrongly."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (_broker,) = lab.cluster(settings={"socket.receive.buffer.bytes": "-1"})
    lab.topics(orders=background.ORDERS, films={"partitions": 1})
    wire = lab.wire("studio", Habits(delay_s=0.01, no_window_scale_into=True))
    near = lab.wire("desk", Habits(delay_s=0.01))
    big = {"per_s": 20, "size": 5000, "linger_ms": 50}
    with lab.capture(wire.host, near.host):
        lab.start(wire.host, produce, lab.bootstrap, "studio-upload", "films", **big)
        lab.start(near.host, produce, lab.bootstrap, "desk-upload", "films", **big)
        time.sleep(15)
    what = f"Behind it is studio-upload at {wire.host.address}: it takes the broker's window for a 128th of what it is."
    return Truth(["window_scale_lost"], [["studio-upload", wire.host.address]], what)
