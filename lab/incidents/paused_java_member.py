"""A Java consumer's process stands still (SIGSTOP) for 14 s, its session timeout is 8 s; it was connected before."""

import signal
import time

from lab.clients import produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(mails={"partitions": 4})
    one, two, shop = lab.host("mailer-1"), lab.host("mailer-2"), lab.host("shop")
    patience = {"session_timeout_ms": "8000", "heartbeat_interval_ms": "2000"}
    lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=10)
    java_consume(lab, one, "mailer-one", "mailers", "mails", **patience)
    paused = java_consume(lab, two, "mailer-two", "mailers", "mails", **patience)
    time.sleep(12)
    with lab.capture(broker.host):
        time.sleep(5)
        with lab.doing(f"mailer-two ({two.address}) stands still (SIGSTOP)"):
            paused.send_signal(signal.SIGSTOP)
            time.sleep(14)
            paused.send_signal(signal.SIGCONT)
        time.sleep(8)
    return Truth(["session_expired"], [["mailer-two", two.address], ["mailers"]])
