"""A health check speaks HTTP to a broker's port."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import speak_http


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    probe = lab.host("probe")
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"{probe.address} sends GET /health once a second"):
            lab.start(probe, speak_http, broker.address, 12.0).wait(20)
    return Truth(["wrong_protocol"], [[probe.address], [broker.address]])
