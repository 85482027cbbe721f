"""Clients speak TLS to a proxy (HAProxy), which speaks plainly to the brokers; both its sides are captured, no keys."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.middle import advertised, haproxy
from lab.security import issue
from lab.session import Lab, Truth

_PROXY = "10.20.0.5"
_PORT = """listen kafka{number}
  bind {proxy}:920{number} ssl crt {chain}
  server broker {address}:9094
"""


def run(lab: Lab) -> Truth:
    proxy = lab.network.host("proxy", _PROXY)
    lab.hosts[_PROXY] = "proxy"
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    chain = issue("kafka", authority, address=_PROXY).chain(lab.folder / "proxy.pem")
    brokers = lab.cluster(2, settings=advertised(_PROXY))
    ports = [_PORT.format(number=each.number, proxy=_PROXY, chain=chain, address=each.host.address) for each in brokers]
    haproxy(lab, proxy, "".join(ports))
    lab.topics(parcels={"assignment": [[1], [2]]})
    bootstrap = ",".join(f"{_PROXY}:{9200 + each.number}" for each in brokers)
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    words = {"security_protocol": "SSL", "ssl_truststore_type": "PEM", "ssl_truststore_location": ca}
    store, gate = lab.host("store"), lab.host("gate")
    with lab.capture(proxy):
        lab.start(store, produce, bootstrap, "store", "parcels", per_s=4, seconds=8, **secure)
        java_produce(lab, store, "store-java", "parcels", per_s=4, bootstrap_servers=bootstrap, **words)
        lab.start(gate, consume, bootstrap, "gate", "gate", "parcels", seconds=9, **secure)
        time.sleep(10)
    return Truth()
