"""A member that is busy with one record holds up the rebalance that a new member asks for; the capture ends meanwhile."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 4})
    pods = [lab.host(f"pod-{number}") for number in range(1, 4)]
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=2)
        lab.start(pods[0], consume, lab.bootstrap, "mailer-1", "mailers", "mails")
        lab.start(pods[1], consume, lab.bootstrap, "mailer-2", "mailers", "mails", record_s=30)
        time.sleep(8)
        lab.start(shop, produce, lab.bootstrap, "mail-feed", "mails", per_s=4)
        time.sleep(5)
        with lab.doing("mailer-3 joins; mailer-2 is busy with a record for 30 s"):
            lab.start(pods[2], consume, lab.bootstrap, "mailer-3", "mailers", "mails")
            time.sleep(16)
    return Truth(["stuck_member"], [["mailer-2"], ["mailers"]])
