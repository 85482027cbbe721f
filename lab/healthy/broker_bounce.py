"""One of three brokers is restarted in order; all topics have their copies elsewhere, and it is back in seconds."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3)
    lab.topics(orders={"assignment": [[2, 1, 3], [3, 2, 1]]}, mails={"assignment": [[1, 2, 3]]})
    mail = lab.host("mail")
    with lab.capture(lab.network.hub, broker=broker.host):
        background.shop(lab)
        lab.start(mail, produce, lab.bootstrap, "mail-feed", "mails", per_s=5)
        time.sleep(6)
        with lab.doing(f"broker 2 ({broker.address}) is restarted (SIGTERM)"):
            broker.stop()
            broker.start()
            broker.wait()
        time.sleep(8)
    return Truth()
