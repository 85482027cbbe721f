"""Transactions and their readers at Kafka 4.1, logged in by SCRAM; Java and librdkafka; 200 bytes a packet, from the middle."""

import time

from lab.clients import consume
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume, java_produce
from lab.security import SECURE_PORT, scram
from lab.session import Lab, Truth
from lab.tricks import produce_in_transactions

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


def run(lab: Lab) -> Truth:
    storage = ("--add-scram", "SCRAM-SHA-256=[name=bank,password=bank-pw]")
    (broker,) = lab.cluster(settings=scram(), storage=storage, version=NEW_VERSION)
    lab.topics(ledger={"partitions": 2})
    bank, audit = lab.host("bank"), lab.host("audit")
    port = f"{broker.host.address}:{SECURE_PORT}"
    known = {"security_protocol": "sasl_plaintext", "sasl_mechanism": "SCRAM-SHA-256"}
    known |= {"sasl_username": "bank", "sasl_password": "bank-pw"}
    words = {"bootstrap_servers": port, "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-256"}
    words |= {"sasl_jaas_config": f'{_MODULE} required username="bank" password="bank-pw";', "library": NEW_VERSION}
    lab.start(bank, produce_in_transactions, port, "bank-one", "bank-tx", "ledger", 60.0, abort_each=5, **known)
    java_produce(lab, bank, "bank-java", "ledger", per_s=10, **words)
    java_consume(lab, audit, "audit-java", "audit", "ledger", isolation_level="read_committed", **words)
    time.sleep(8)
    lab.snap = 200
    with lab.capture(broker.host):
        time.sleep(5)
        lab.start(audit, consume, port, "audit-list", "audit-list", "ledger", isolation_level="read_committed", **known)
        time.sleep(10)
    return Truth()
