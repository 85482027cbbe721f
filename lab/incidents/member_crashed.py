"""A member of a group is killed; until its session expires nobody reads its partitions."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 2})
    one, two = lab.host("mailer-1"), lab.host("mailer-2")
    patience = {"session_timeout_ms": 10000, "heartbeat_interval_ms": 2000}
    with lab.capture(broker.host):
        shop = background.shop(lab)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=10)
        lab.start(one, consume, lab.bootstrap, "mailer-one", "mailers", "mails", **patience)
        crashed = lab.start(two, consume, lab.bootstrap, "mailer-two", "mailers", "mails", **patience)
        time.sleep(10)
        lab.did(f"mailer-two ({two.address}) is killed")
        crashed.kill()
        time.sleep(18)
    return Truth(["session_expired"], [["mailer-two", two.address], ["mailers"]], "Its session timeout is 10 s.")
