"""HAProxy before three brokers; each gets PROXY headers and health checks (v1, v2, and a bare connect)."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.middle import haproxy
from lab.session import Lab, Truth

_BALANCER = "10.20.0.5"
_FRONT = """listen kafka
  bind {address}:9200
  balance roundrobin
  server one 10.20.0.11:9192 check inter 2s send-proxy check-send-proxy
  server two 10.20.0.12:9192 check inter 2s send-proxy-v2 check-send-proxy
  server three 10.20.0.13:9092 check inter 2s
"""
_READER = """listen reader
  bind {address}:9192 accept-proxy
  server broker {address}:9092
"""


def run(lab: Lab) -> Truth:
    balancer = lab.network.host("balancer", _BALANCER)
    lab.hosts[_BALANCER] = "balancer"
    brokers = lab.cluster(3)
    for each in brokers[:2]:
        haproxy(lab, each.host, _READER.format(address=each.host.address))
    haproxy(lab, balancer, _FRONT.format(address=_BALANCER))
    lab.topics(parcels={"assignment": [[1], [2], [3]]})
    store, gate = lab.host("store"), lab.host("gate")
    with lab.capture(lab.network.hub):
        lab.start(store, produce, f"{_BALANCER}:9200", "store", "parcels", per_s=10, seconds=10)
        java_produce(lab, store, "store-java", "parcels", per_s=5, bootstrap_servers=f"{_BALANCER}:9200")
        lab.start(gate, consume, f"{_BALANCER}:9200", "gate", "gate", "parcels", seconds=12)
        time.sleep(14)
    return Truth()
