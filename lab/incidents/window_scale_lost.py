"""A middlebox takes window scaling out of the handshakes of a client 40 ms away, so that its large fetches crawl."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, history={"partitions": 1})
    lab.fill("history", 6000, 1000)
    branch = lab.wire("branch", Habits(delay_s=0.04, no_window_scale=True))
    near = lab.wire("depot", Habits(delay_s=0.04))
    with lab.capture(broker.host, client=branch.host):
        background.shop(lab)
        lab.start(branch.host, consume, lab.bootstrap, "branch-import", "branch-import", "history")
        lab.start(near.host, consume, lab.bootstrap, "depot-import", "depot-import", "history")
        time.sleep(18)
    what = f"Behind it is branch-import at {branch.host.address}; depot-import is as far away, and keeps its scaling."
    return Truth(["window_scale_lost"], [["branch-import", branch.host.address]], what)
