"""A consumer crashes each 5 s, and its supervisor starts it again; it never leaves its group in order."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 4})
    one, two = lab.host("mailer-1"), lab.host("mailer-2")
    patience = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 1000}
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=10)
        lab.start(one, consume, lab.bootstrap, "mailer-one", "mailers", "mails", **patience)
        with lab.doing(f"mailer-two ({two.address}) is killed each 5 s and started again"):
            for _ in range(7):
                member = lab.start(two, consume, lab.bootstrap, "mailer-two", "mailers", "mails", **patience)
                time.sleep(5)
                member.kill()
    return Truth(["member_crashes"], [["mailers"], ["mailer-two", two.address]])
