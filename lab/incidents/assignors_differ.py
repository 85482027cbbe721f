"""A new member of a group knows only assignors that the others do not, and is refused again and again."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 2})
    one, two = lab.host("mailer-1"), lab.host("mailer-2")
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=5)
        names = "partition_assignment_strategy"
        lab.start(one, consume, lab.bootstrap, "mailer-old", "mailers", "mails", **{names: "range"})
        time.sleep(7)
        with lab.doing(f"mailer-new at {two.address} joins with roundrobin only"):
            lab.start(two, consume, lab.bootstrap, "mailer-new", "mailers", "mails", **{names: "roundrobin"})
            time.sleep(14)
    return Truth(["failing"], [["mailer-new", "mailers"], ["INCONSISTENT_GROUP_PROTOCOL"]])
