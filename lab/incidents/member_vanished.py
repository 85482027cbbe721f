"""The machine of a member is off the network for good; its group waits for the session timeout; at the broker, from the middle."""

import time

from lab.clients import consume, produce
from lab.pythonclient import python_consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(mails={"partitions": 2})
    desk, one, two = lab.host("desk"), lab.host("mailer-1"), lab.wire("mailer-2", Habits(delay_s=0.001))
    patience = {"session_timeout_ms": 9000, "heartbeat_interval_ms": 2000}
    lab.start(desk, produce, lab.bootstrap, "mail-feed", "mails", per_s=20)
    lab.start(one, consume, lab.bootstrap, "mailer-one", "mailers", "mails", **patience)
    lab.start(two.host, python_consume, lab.bootstrap, "mailer-two", "mailers", "mails", **patience)
    time.sleep(12)
    with lab.capture(broker.host):
        time.sleep(6)
        with lab.doing(f"mailer-two ({two.host.address}) is off the network"):
            two.change(silent=True)
            time.sleep(18)
    return Truth(["session_expired", "line_dead"], [["mailer-two", two.host.address]])
