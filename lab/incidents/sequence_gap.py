"""An idempotent producer loses a batch on its way, so that what follows is out of order, and begins anew each time."""

from lab import background
from lab.session import Lab, Truth
from lab.tricks import produce_out_of_order


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ledger={"partitions": 1})
    bank = lab.host("bank")
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"bank-ledger on {bank.address} leaves out a batch again and again"):
            lab.start(bank, produce_out_of_order, broker.address, "bank-ledger", "ledger", 12.0).wait(25)
    return Truth(["out_of_order"], [["bank-ledger"], ["ledger"]])
