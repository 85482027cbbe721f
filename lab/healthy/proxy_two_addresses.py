"""A proxy (nginx) with an address for its clients and another one for the brokers, captured with both its sides."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.middle import advertised, nginx
from lab.namespaces import command
from lab.session import Lab, Truth

_FRONT, _BACK = "10.20.0.5", "10.20.0.6"


def run(lab: Lab) -> Truth:
    proxy = lab.network.host("proxy", _FRONT)
    command(*proxy.words("ip", "addr", "add", f"{_BACK}/16", "dev", "eth0"))
    lab.hosts.update({_FRONT: "proxy, to its clients", _BACK: "proxy, to the brokers"})
    brokers = lab.cluster(2, settings=advertised(_FRONT))
    ports = {9200 + each.number: (each.host.address, 9094) for each in brokers}
    nginx(lab, proxy, ports, f"proxy_bind {_BACK};")
    lab.topics(parcels={"assignment": [[1], [2]]})
    bootstrap = ",".join(f"{_FRONT}:{port}" for port in ports)
    store, gate = lab.host("store"), lab.host("gate")
    with lab.capture(proxy):
        lab.start(store, produce, bootstrap, "store", "parcels", per_s=10, seconds=10)
        java_produce(lab, store, "store-java", "parcels", per_s=5, bootstrap_servers=bootstrap)
        lab.start(gate, consume, bootstrap, "gate", "gate", "parcels", seconds=12)
        time.sleep(14)
    return Truth()
