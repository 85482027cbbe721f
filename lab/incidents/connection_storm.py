"""A client makes a new connection for every record."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import connect_for_each


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, hooks={"partitions": 1})
    web = lab.host("web")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        with lab.doing(f"webhook on {web.address} connects for each record, 4 times a second"):
            lab.start(web, connect_for_each, broker.address, "webhook", "hooks", 4.0, 36.0).wait(50)
    return Truth(["connection_storm"], [["webhook", web.address]])
