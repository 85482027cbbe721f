"""The broker that coordinates the groups is killed; Java 2.8, from the middle, 128 bytes a packet, beside the clients."""

import time

from lab.jars import OLD_LIBRARY
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3)
    lab.topics(__consumer_offsets={"assignment": [[2, 3, 1]], "settings": {"cleanup_policy": "compact"}})
    lab.topics(mails={"assignment": [[1], [3]]})
    mail = lab.host("mail")
    old = {"library": OLD_LIBRARY}
    java_produce(lab, mail, "mail-feed", "mails", per_s=20, **old)
    java_consume(lab, mail, "mailer", "mailers", "mails", **old)
    java_consume(lab, mail, "mail-count", "counters", "mails", **old)
    time.sleep(10)
    lab.snap = 128
    with lab.capture(mail):
        time.sleep(6)
        lab.did(f"broker 2 ({broker.address}), the coordinator of both groups, is killed (SIGKILL)")
        broker.kill()
        time.sleep(14)
    return Truth(["broker_gone"], [[broker.address]])
