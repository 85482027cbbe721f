"""A group of the newer protocol (KIP-848) is deployed anew, member by member, Java's clients; records come in."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2, version=NEW_VERSION)
    lab.topics(mails={"partitions": 6})
    shop = lab.host("shop")
    pods = [lab.host(f"pod-{number}") for number in range(1, 4)]
    words = {"group_protocol": "consumer"}
    with lab.capture(*(broker.host for broker in brokers)):
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=20)
        old = [java_consume(lab, pod, f"mailer-{n}", "mailers", "mails", **words) for n, pod in enumerate(pods, 1)]
        time.sleep(12)
        for number, pod in enumerate(pods, 1):
            with lab.doing(f"mailer-{number} is replaced"):
                old[number - 1].terminate()
                time.sleep(2)
                java_consume(lab, pod, f"mailer-{number}", "mailers", "mails", **words)
                time.sleep(4)
        time.sleep(5)
    return Truth()
