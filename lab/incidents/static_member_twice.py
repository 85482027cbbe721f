"""Two processes have the same group.instance.id: each throws the other out when it starts again."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth
from lab.tricks import consume_stubbornly


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 2})
    one, two = lab.host("mailer-1"), lab.host("mailer-2")
    with lab.capture(broker.host):
        shop = background.shop(lab)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=5)
        lab.start(one, consume_stubbornly, lab.bootstrap, "mailer-one", "mailers", "mails", 30.0, "mailer-a")
        time.sleep(6)
        with lab.doing(f"a second process with the instance id mailer-a starts at {two.address}"):
            lab.start(two, consume_stubbornly, lab.bootstrap, "mailer-two", "mailers", "mails", 24.0, "mailer-a")
            time.sleep(25)
    return Truth(["instance_fenced"], [["mailer-one"], ["mailer-two"]])
