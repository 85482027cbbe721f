"""The line of a broker that only follows is dead for 9 s: writes with acks=all wait for it; Java, three brokers."""

import time

from lab.clients import consume
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    *_, broker = lab.cluster(3, habits={3: Habits(delay_s=0.0005)})
    lab.topics(ledger={"assignment": [[1, 3], [2, 3]]})
    bank = lab.host("bank")
    java_produce(lab, bank, "bank-ledger", "ledger", per_s=20, acks="all")
    lab.start(bank, consume, lab.bootstrap, "bank-report", "report", "ledger")
    time.sleep(8)
    with lab.capture(lab.network.hub):
        time.sleep(8)
        with lab.doing(f"no packet gets to broker 3 ({broker.address}) or comes from it"):
            lab.wires[3].change(silent=True)
            time.sleep(9)
        lab.wires[3].change(silent=False)
        time.sleep(10)
    causes = ["line_dead", "broker_gone", "slow_replication", "broker_stalled"]
    return Truth(causes, [[broker.address, broker.host.address]], "What packets show is that it does not answer.")
