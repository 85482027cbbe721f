"""A client asks for much and does not read the reply for 3 s: its receive window is full."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import read_late


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, history={"partitions": 1})
    lab.fill("history", 700, 1000)
    report = lab.host("report")
    with lab.capture(broker.host, client=report):
        background.shop(lab)
        with lab.doing(f"night-report on {report.address} reads each reply 3 s late"):
            lab.start(report, read_late, broker.address, "night-report", "history", 14.0, 3.0).wait(30)
    return Truth(["client_not_reading"], [["night-report", report.address]])
