"""One client of several runs into its byte quota and is throttled."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, clicks={"partitions": 1})
    quota = ("--alter", "--add-config", "producer_byte_rate=20000", "--entity-type", "clients")
    lab.tool("kafka.admin.ConfigCommand", *quota, "--entity-name", "click-tracker")
    web = lab.host("web")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(web, produce, lab.bootstrap, "click-tracker", "clicks", per_s=40, size=2000)
        lab.start(web, produce, lab.bootstrap, "view-tracker", "clicks", per_s=20, size=500)
        time.sleep(20)
    return Truth(["throttled"], [["click-tracker"]], "It is click-tracker: 80 kB/s, where its quota is 20 kB/s.")
