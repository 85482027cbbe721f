"""A new release of a consumer is rolled out: each of three members leaves, and its successor joins."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 6})
    hosts = [lab.host(f"mailer-{number}") for number in (1, 2, 3)]
    with lab.capture(broker.host, member=hosts[1]):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=10)
        members = [lab.start(host, consume, lab.bootstrap, "mailer-v1", "mailers", "mails") for host in hosts]
        time.sleep(9)
        for host, member in zip(hosts, members, strict=True):
            with lab.doing(f"the member at {host.address} is replaced by its next release"):
                member.stop()
                lab.start(host, consume, lab.bootstrap, "mailer-v2", "mailers", "mails")
            time.sleep(5)
        time.sleep(4)
    return Truth()
