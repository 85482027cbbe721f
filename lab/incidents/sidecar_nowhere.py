"""A sidecar takes what its host sends to a broker that is not there: clients connect, and nothing answers. All interfaces."""

import time

from lab.clients import produce
from lab.javaclient import java_produce
from lab.middle import redirect
from lab.proxy import intercept
from lab.session import Lab, Truth

_PORT, _USER, _NOBODY = 15001, 1337, "10.20.0.77:9092"


def run(lab: Lab) -> Truth:
    lab.cluster()
    pod = lab.host("pod")
    lab.start(pod, intercept, _PORT, _USER)
    redirect(pod, 9092, _PORT, _USER)
    time.sleep(1)
    with lab.capture(pod, interface="any"):
        lab.start(pod, produce, _NOBODY, "checkout", "baskets", per_s=4, seconds=24)
        java_produce(lab, pod, "checkout-java", "baskets", per_s=2, bootstrap_servers=_NOBODY)
        time.sleep(28)
    return Truth(causes=["hung_up_at_once", "came_to_nothing"], subject=[["10.20.0.77:9092"]])
