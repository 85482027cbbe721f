"""A broker whose clients come by IPv6 stands still for 2.5 s."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    six = "[fd00:20::11]:9092"
    settings = {
        "listeners": f"PLAINTEXT://{{address}}:9092,SIX://{six},CONTROLLER://{{address}}:9093",
        "advertised.listeners": f"PLAINTEXT://{{address}}:9092,SIX://{six}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SIX:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
    }
    (broker,) = lab.cluster(settings=settings, start=False)
    broker.host.add_ipv6("fd00:20::11")
    broker.start()
    broker.wait()
    lab.topics(orders={"partitions": 2})
    shop, till = lab.host("shop"), lab.host("till")
    shop.add_ipv6("fd00:20::101")
    till.add_ipv6("fd00:20::102")
    lab.ipv6 = True
    with lab.capture(broker.host):
        lab.start(shop, produce, six, "shop-orders", "orders", per_s=20, linger_ms=0)
        lab.start(shop, consume, six, "packing", "packing", "orders")
        java_produce(lab, till, "till-orders", "orders", per_s=20, bootstrap_servers=six)
        time.sleep(10)
        with lab.doing(f"broker 1 ({six}) stands still (SIGSTOP)"):
            broker.pause(2.5)
        time.sleep(8)
    return Truth(["broker_stalled"], [["fd00:20::11", six]])
