"""Leadership of all partitions is given back to the preferred brokers; clients follow at once."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3, settings={"auto.leader.rebalance.enable": "false"})
    lab.topics(orders={"assignment": [[2, 1], [2, 3]]}, mails={"assignment": [[2, 3]]})
    broker.stop()
    broker.start()
    broker.wait()
    mail = lab.host("mail")
    with lab.capture(lab.network.hub, client=mail):
        background.shop(lab)
        lab.start(mail, produce, lab.bootstrap, "mail-feed", "mails", per_s=10)
        time.sleep(8)
        with lab.doing("kafka-leader-election.sh gives all partitions back to broker 2"):
            words = ("--election-type", "preferred", "--all-topic-partitions")
            lab.tool("org.apache.kafka.tools.LeaderElectionCommand", *words)
        time.sleep(10)
    return Truth()
