"""The capture ends while a broker of two stands still; it was begun after the clients had connected, 200 bytes a packet."""

import signal
import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(orders={"assignment": [[1], [2]]}, mails={"assignment": [[2], [1]]})
    mail = lab.host("mail")
    background.shop(lab, per_s=20)
    lab.start(mail, produce, lab.bootstrap, "mail-feed", "mails", per_s=20, size=600)
    lab.start(mail, consume, lab.bootstrap, "mailer", "mailers", "mails")
    time.sleep(8)
    lab.snap = 200
    with lab.capture(lab.network.hub):
        time.sleep(8)
        broker.signal(signal.SIGSTOP)
        lab.did(f"broker 2 ({broker.address}) stands still (SIGSTOP), to the end of the capture")
        time.sleep(4)
    return Truth(["broker_stalled"], [[broker.address]])
