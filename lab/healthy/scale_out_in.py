"""A group grows from one member to six, a second apart, and shrinks again; Java and librdkafka, each group its own."""

import time

from lab import background
from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, mails={"partitions": 6})
    pods = [lab.host(f"pod-{number}") for number in range(1, 7)]
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=15)
        members = []
        with lab.doing("mailers grows to six members"):
            for number, pod in enumerate(pods, 1):
                members.append(lab.start(pod, consume, lab.bootstrap, f"mailer-{number}", "mailers", "mails"))
                time.sleep(2)
        java = [java_consume(lab, pod, f"audit-{number}", "audit", "mails") for number, pod in enumerate(pods[:3], 1)]
        time.sleep(8)
        with lab.doing("five of them leave, and two of audit"):
            for member in members[1:]:
                member.stop()
                time.sleep(1)
            for program in java[1:]:
                program.terminate()
        time.sleep(8)
    return Truth()
