"""A group of kafka-python on two brokers grows, is deployed anew and shrinks, while its producer writes; seen beside it."""

import time

from lab.pythonclient import python_consume, python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(mails={"assignment": [[1, 2], [2, 1], [1, 2]]})
    host = lab.host("mail")
    lab.start(host, python_produce, lab.bootstrap, "mail-feed", "mails", per_s=20)
    first = lab.start(host, python_consume, lab.bootstrap, "mailer-one", "mailers", "mails")
    time.sleep(5)
    with lab.capture(host):
        second = lab.start(host, python_consume, lab.bootstrap, "mailer-two", "mailers", "mails")
        time.sleep(8)
        with lab.doing("mailer-one ends and its successor starts"):
            first.stop()
            lab.start(host, python_consume, lab.bootstrap, "mailer-one", "mailers", "mails")
        time.sleep(8)
        with lab.doing("mailer-two ends in order"):
            second.stop()
        time.sleep(6)
    return Truth()
