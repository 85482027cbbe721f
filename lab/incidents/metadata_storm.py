"""A client asks for metadata 20 times a second."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import ask_metadata


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    monitor = lab.host("monitor")
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"topic-watch on {monitor.address} asks 20 times a second"):
            lab.start(monitor, ask_metadata, broker.address, "topic-watch", "orders", 20.0, 36.0).wait(50)
    return Truth(["metadata_storm"], [["topic-watch", monitor.address]])
