"""A static member, a Java client, is started a second time while the first still runs: the first is fenced out for good."""

import time

from lab import background
from lab.clients import produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 2})
    one, two = lab.host("mailer-1"), lab.host("mailer-2")
    shop = background.shop(lab, per_s=5)
    lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=5)
    java_consume(lab, one, "mailer-old", "mailers", "mails", group_instance_id="mailer-a")
    time.sleep(9)
    with lab.capture(broker.host):
        time.sleep(5)
        lab.did(f"a second process with the instance id mailer-a starts at {two.address}")
        java_consume(lab, two, "mailer-new", "mailers", "mails", group_instance_id="mailer-a")
        time.sleep(15)
    return Truth(["instance_fenced"], [["mailers", "mailer-old"], ["mailer-new"]])
