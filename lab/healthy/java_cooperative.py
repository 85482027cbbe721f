"""A group of Java consumers with cooperative rebalancing is deployed anew, member by member."""

import time

from lab.clients import produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(mails={"partitions": 6})
    hosts = [lab.host(f"mailer-{number}") for number in (1, 2)]
    shop = lab.host("shop")
    sticky = {"partition_assignment_strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
    lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=10)
    members = [java_consume(lab, host, "mailer-v1", "mailers", "mails", **sticky) for host in hosts]
    time.sleep(10)
    with lab.capture(broker.host):
        time.sleep(3)
        for host, member in zip(hosts, members, strict=True):
            with lab.doing(f"the member at {host.address} is replaced by its next release"):
                member.terminate()
                member.wait(10)
                java_consume(lab, host, "mailer-v2", "mailers", "mails", **sticky)
            time.sleep(8)
        time.sleep(4)
    return Truth()
