"""Two things at once: a producer runs into its quota, and another client logs in with a wrong password, again and again."""

import time

from lab.clients import produce
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=passwords(stock="stock-pw"))
    lab.topics(clicks={"partitions": 2}, stock={"partitions": 1})
    quota = ("--alter", "--add-config", "producer_byte_rate=15000", "--entity-type", "clients")
    lab.tool("kafka.admin.ConfigCommand", *quota, "--entity-name", "click-log")
    web, store = lab.host("web"), lab.host("store")
    with lab.capture(broker.host):
        lab.start(web, python_produce, lab.bootstrap, "click-log", "clicks", per_s=60, size=1000)
        lab.start(web, produce, lab.bootstrap, "view-log", "clicks", per_s=10)
        port = f"{broker.host.address}:{SECURE_PORT}"
        lab.start(store, produce, port, "store-stock", "stock", **login("stock", "wrong"))
        time.sleep(18)
    causes = ["throttled", "authentication_failures"]
    return Truth(causes, [["click-log", store.address, "stock"]], "Both are equally true.")
