"""The broker that coordinates the groups is killed: members must find another coordinator."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3)
    # Its only partition is led by broker 2, which so coordinates all groups.
    lab.topics(__consumer_offsets={"assignment": [[2, 3, 1]], "settings": {"cleanup_policy": "compact"}})
    lab.topics(orders={"assignment": [[1], [1]]}, mails={"assignment": [[1]]})
    mail = lab.host("mail")
    with lab.capture(lab.network.hub):
        shop = background.shop(lab)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=5)
        lab.start(mail, consume, lab.bootstrap, "mailer", "mailers", "mails")
        time.sleep(8)
        lab.did(f"broker 2 ({broker.address}), the coordinator of both groups, is killed (SIGKILL)")
        broker.kill()
        time.sleep(16)
    return Truth(["broker_gone"], [[broker.address]], "The topics of the clients are on broker 1.")
