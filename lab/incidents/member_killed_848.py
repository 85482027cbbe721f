"""A member of a group of the newer protocol (KIP-848, Java 4.1) is killed; its session is 9 s; from the middle."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    patience = {"group.consumer.session.timeout.ms": "9000", "group.consumer.min.session.timeout.ms": "5000"}
    patience |= {"group.consumer.heartbeat.interval.ms": "1500", "group.consumer.min.heartbeat.interval.ms": "1000"}
    (broker,) = lab.cluster(version=NEW_VERSION, settings=patience)
    lab.topics(mails={"partitions": 4})
    desk, one, two = lab.host("desk"), lab.host("mailer-1"), lab.host("mailer-2")
    lab.start(desk, produce, lab.bootstrap, "mail-feed", "mails", per_s=20)
    new = {"library": NEW_VERSION, "group_protocol": "consumer"}
    java_consume(lab, one, "mailer-one", "mailers", "mails", **new)
    crashed = java_consume(lab, two, "mailer-two", "mailers", "mails", **new)
    time.sleep(12)
    with lab.capture(broker.host):
        time.sleep(6)
        lab.did(f"mailer-two ({two.address}) is killed")
        crashed.kill()
        time.sleep(20)
    return Truth(["session_expired"], [["mailer-two", two.address], ["mailers"]])
