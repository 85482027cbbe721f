"""A sidecar takes what its host sends to brokers (nftables: REDIRECT) and carries it on; captured on all its interfaces."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.middle import redirect
from lab.proxy import intercept
from lab.session import Lab, Truth

_PORT, _USER = 15001, 1337


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(baskets={"assignment": [[1], [2]]})
    pod = lab.host("pod")
    lab.start(pod, intercept, _PORT, _USER)
    redirect(pod, 9092, _PORT, _USER)
    time.sleep(1)
    with lab.capture(pod, interface="any"):
        lab.start(pod, produce, lab.bootstrap, "checkout", "baskets", per_s=8, enable_idempotence=True, seconds=9)
        java_produce(lab, pod, "checkout-java", "baskets", per_s=4)
        lab.start(pod, consume, lab.bootstrap, "stock", "stock", "baskets", seconds=11)
        time.sleep(13)
    return Truth()
