"""A client writes each request in two pieces with Nagle's algorithm on, so each waits for a delayed acknowledgement."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import produce_in_two_writes


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, readings={"partitions": 1})
    plant = lab.host("plant")
    with lab.capture(broker.host, client=plant):
        background.shop(lab)
        with lab.doing(f"plant-gateway on {plant.address} sends requests in two writes"):
            lab.start(plant, produce_in_two_writes, broker.address, "plant-gateway", "readings", 15.0).wait(25)
    return Truth(["nagle_delay"], [["plant-gateway", plant.address]])
