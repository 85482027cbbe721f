"""A consumer's whole process stands still (SIGSTOP) for longer than its session timeout."""

import signal
import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings={"group.min.session.timeout.ms": "3000"})
    lab.topics(orders=background.ORDERS, mails={"partitions": 2})
    one, two = lab.host("mailer-1"), lab.host("mailer-2")
    patience = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 1000}
    with lab.capture(broker.host):
        shop = background.shop(lab)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=10)
        lab.start(one, consume, lab.bootstrap, "mailer-one", "mailers", "mails", **patience)
        paused = lab.start(two, consume, lab.bootstrap, "mailer-two", "mailers", "mails", **patience)
        time.sleep(8)
        with lab.doing(f"mailer-two ({two.address}) stands still (SIGSTOP)"):
            paused.signal(signal.SIGSTOP)
            time.sleep(12)
            paused.signal(signal.SIGCONT)
        time.sleep(8)
    return Truth(["session_expired"], [["mailer-two", two.address], ["mailers"]], "Its session timeout is 6 s.")
