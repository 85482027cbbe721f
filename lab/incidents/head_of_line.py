"""A client sends urgent records behind its own long poll on the same connection."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import poll_and_produce_on_one


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, alarms={"partitions": 1}, commands={"partitions": 1})
    gate = lab.host("gate")
    with lab.capture(broker.host, client=gate):
        background.shop(lab)
        with lab.doing(f"gate-proxy on {gate.address} polls for 1.5 s and produces behind it"):
            work = (broker.address, "gate-proxy", "alarms", "commands", 20.0)
            lab.start(gate, poll_and_produce_on_one, *work).wait(30)
    return Truth(["head_of_line"], [["gate-proxy", gate.address]])
