"""A job reads what came in and ends, again and again, in the same group; each time it is alone."""

import time

from lab import background
from lab.clients import consume
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    job = lab.host("job")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        for number in range(5):
            with lab.doing(f"the job of group export runs on {job.address}"):
                if number == 2:
                    program = java_consume(lab, job, "export-job", "export", "orders")
                    time.sleep(5)
                    program.terminate()
                    program.wait(10)
                else:
                    lab.start(job, consume, lab.bootstrap, "export-job", "export", "orders", 4.0).wait(10)
            time.sleep(1)
    return Truth()
