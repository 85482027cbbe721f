"""A member of kafka-python's stands still (SIGSTOP) for longer than its session timeout; two brokers, from the middle."""

import signal
import time

from lab import background
from lab.pythonclient import python_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(orders=background.ORDERS, mails={"assignment": [[1], [2]]})
    one, two = lab.host("mail-1"), lab.host("mail-2")
    short = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 2000}
    background.shop(lab, per_s=5)
    lab.start(one, python_consume, lab.bootstrap, "mailer-one", "mailers", "mails", **short)
    member = lab.start(two, python_consume, lab.bootstrap, "mailer-two", "mailers", "mails", **short)
    time.sleep(10)
    with lab.capture(lab.network.hub):
        time.sleep(5)
        with lab.doing(f"mailer-two on {two.address} stands still (SIGSTOP)"):
            member.signal(signal.SIGSTOP)
            time.sleep(10)
        member.signal(signal.SIGCONT)
        time.sleep(10)
    return Truth(["session_expired"], [["mailer-two"], ["mailers"]])
