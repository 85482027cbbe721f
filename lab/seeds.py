"""Runs that nobody wrote: a seed draws what is done, where, how strongly, when and beside whom. `python -m lab.seeds 1 2`.

A run's capture and truth go to `build/lab/seeds/SEED`, which is not kept in git; a row tells what kanalyze said of it.
Rules are worked on with some seeds, and others are opened only to count: a rule that fits the first ones alone shows.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab import background
from lab.brokers import Broker
from lab.clients import consume, produce
from lab.jars import BROKER_VERSION, CACHE, NEW_VERSION
from lab.javaclient import java_produce
from lab.pythonclient import python_produce
from lab.score import judge
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth
from lab.wire import Habits

HEALTHY = "healthy"
# Cause -> the weakest and the strongest that is drawn, and from where to where an impact must be told.
STRENGTHS = {
    "broker_stalled": (0.1, 8.0, 1.0, 8.0),  # s that it stands still: 1 s is the limit of a client's time
    "broker_gone": (8.0, 12.0, 8.0, 12.0),  # s that are captured after it was killed
    "rate_limited_link": (0.5, 40.0, 0.5, 4.0),  # Mbit/s of the link
    "authentication_failures": (2.0, 12.0, 8.0, 12.0),  # s, with an attempt each second at least: 5 refusals
    HEALTHY: (8.0, 14.0, 0.0, 0.0),  # s that are captured
}
_TOPICS = ("orders", "invoices", "clicks")


@dataclass(frozen=True, slots=True)
class Draw:
    """What a seed means. `library` and `name` are of the client that is in trouble, or works."""

    seed: int
    cause: str
    strength: float
    after_s: float
    brokers: int
    place: int  # which broker
    version: str
    library: str
    name: str
    topic: str
    at_client: bool  # where the capture is taken: beside the client, or at the switch
    snap: int
    lost: float  # share of packets that the capture lacks
    others_per_s: float

    @property
    def above(self) -> bool:
        """Whether it is so strong that it must be told."""
        _, _, least, most = STRENGTHS[self.cause]
        return least <= self.strength <= most


def draw(seed: int) -> Draw:
    """The same for the same seed."""
    chance = random.Random(f"kanalyze {seed}")
    cause = chance.choice([*STRENGTHS, HEALTHY])
    weakest, strongest, *_ = STRENGTHS[cause]
    brokers = chance.choice([2, 3])
    return Draw(
        seed=seed,
        cause=cause,
        strength=round(weakest * (strongest / weakest) ** chance.random(), 2),
        after_s=round(chance.uniform(3, 7), 1),
        brokers=brokers,
        # The first is also the controller: whoever stops it does more than the script says.
        place=chance.randint(2, brokers),
        version=chance.choice([BROKER_VERSION, NEW_VERSION]),
        library=chance.choice(["librdkafka", "java", "python"]) if cause in _ANY_LIBRARY else "librdkafka",
        name=chance.choice(["till", "depot", "meter", "crm"]) + f"-{chance.randint(1, 99)}",
        topic=chance.choice(_TOPICS),
        at_client=chance.random() < 0.4,
        snap=chance.choice([0, 0, 0, 128]),
        lost=chance.choice([0.0, 0.0, 0.0, 0.001]),
        others_per_s=chance.choice([2.0, 10.0, 40.0]),
    )


# What a client of any library is used for; the others need settings that are spelled by librdkafka.
_ANY_LIBRARY = ("broker_stalled", "broker_gone", HEALTHY)


def run(lab: Lab, drawn: Draw) -> Truth:
    """Does it, captured."""
    lab.snap = drawn.snap
    settings = passwords(**{drawn.name: "right-pw"}) if drawn.cause == "authentication_failures" else None
    broker = lab.cluster(drawn.brokers, settings=settings, version=drawn.version)[drawn.place - 1]
    # The client's topic is led by the broker that something is done to, and there is no copy.
    topics: dict[str, Any] = {_topic(drawn): {"assignment": [[drawn.place]]}}
    lab.topics(orders=background.ORDERS, **topics)
    return _DO[drawn.cause](lab, drawn, broker)


def _topic(drawn: Draw) -> str:
    return f"{drawn.topic}-{drawn.seed}"


def _work(lab: Lab, drawn: Draw, then: Callable[[], None]) -> None:
    """A producer at work beside others; after a while something is done."""
    host = lab.host(drawn.name)
    with lab.capture(host if drawn.at_client else lab.network.hub):
        background.shop(lab, drawn.others_per_s)
        if drawn.library == "java":
            java_produce(lab, host, drawn.name, _topic(drawn), per_s=20)
        else:
            client = python_produce if drawn.library == "python" else produce
            lab.start(host, client, lab.bootstrap, drawn.name, _topic(drawn), per_s=20)
        time.sleep(drawn.after_s)
        then()


def _stalled(lab: Lab, drawn: Draw, broker: Broker) -> Truth:
    def then() -> None:
        with lab.doing(f"{broker.address} stands still"):
            broker.pause(drawn.strength)
        time.sleep(5)

    _work(lab, drawn, then)
    return Truth(["broker_stalled"], [[broker.address]])


def _gone(lab: Lab, drawn: Draw, broker: Broker) -> Truth:
    def then() -> None:
        lab.did(f"{broker.address} is killed")
        broker.kill()
        time.sleep(drawn.strength)

    _work(lab, drawn, then)
    return Truth(["broker_gone"], [[broker.address]])


def _healthy(lab: Lab, drawn: Draw, _broker: Broker) -> Truth:
    _work(lab, drawn, lambda: time.sleep(drawn.strength))
    return Truth()


def _link(lab: Lab, drawn: Draw, _broker: Broker) -> Truth:
    lab.fill(_topic(drawn), 12000, 1000)
    wire = lab.wire(drawn.name, Habits(rate_bps=drawn.strength * 1e6))
    with lab.capture(wire.host if drawn.at_client else lab.network.hub):
        background.shop(lab, drawn.others_per_s)
        time.sleep(drawn.after_s)
        with lab.doing(f"{drawn.name} reads over {drawn.strength} Mbit/s"):
            lab.start(wire.host, consume, lab.bootstrap, drawn.name, drawn.name, _topic(drawn))
            time.sleep(14)
    return Truth(["rate_limited_link"], [[drawn.name, wire.host.address]])


def _refused(lab: Lab, drawn: Draw, broker: Broker) -> Truth:
    host, port = lab.host(drawn.name), f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(host if drawn.at_client else lab.network.hub):
        background.shop(lab, drawn.others_per_s)
        time.sleep(drawn.after_s)
        with lab.doing(f"{drawn.name} logs in with a wrong password"):
            more = {"reconnect_backoff_max_ms": 1000, **login(drawn.name, "wrong-pw")}
            lab.start(host, produce, port, drawn.name, _topic(drawn), per_s=5, **more)
            time.sleep(drawn.strength)
    return Truth(["authentication_failures"], [[drawn.name, host.address]])


_DO = {
    "broker_stalled": _stalled,
    "broker_gone": _gone,
    "rate_limited_link": _link,
    "authentication_failures": _refused,
    HEALTHY: _healthy,
}


def thinned(data: bytes, lost: float, seed: int) -> bytes:
    """A capture (little-endian pcap) without a share of its packets, as of a machine that is too slow."""
    chance, kept, at = random.Random(seed), [data[:24]], 24
    while at < len(data):
        end = at + 16 + struct.unpack_from("<I", data, at + 8)[0]
        if chance.random() >= lost:
            kept.append(data[at:end])
        at = end
    return b"".join(kept)


def _make(seed: int) -> str:
    """Runs a seed and judges it: its row."""
    drawn, folder = draw(seed), CACHE / "seeds" / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lab = Lab(folder)
    try:
        truth = run(lab, drawn)
    finally:
        lab.close()
    (captured,) = lab.captures[""]
    path = folder / "capture.pcap"
    path.write_bytes(thinned(captured.read_bytes(), drawn.lost, seed))
    told = {
        "name": f"seed_{seed}",
        "kind": HEALTHY if drawn.cause == HEALTHY else "incident",
        "causes": truth.causes,
        "subject": truth.subject,
        "above": drawn.above,
        "drawn": asdict(drawn),
        "done": [asdict(step) for step in lab.steps],
    }
    (folder / "truth.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return row(told, path)


def row(told: dict[str, object], path: Path) -> str:
    """Seed, cause and strength, whether it must be told, and what was said."""
    drawn, verdict = draw(int(str(told["name"]).removeprefix("seed_"))), judge(told, path)
    mark = "right" if verdict.right else "nothing" if verdict.said == ["nothing"] else "wrong"
    said = verdict.said[0] if verdict.said else ""
    return f"{drawn.seed}\t{drawn.cause}\t{drawn.strength}\t{'above' if drawn.above else 'below'}\t{mark}\t{said}"


def main(words: list[str]) -> int:
    """Prints a row a seed."""
    if os.geteuid():
        print("the lab makes network namespaces: it must be run as root", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for word in words:
        print(_make(int(word)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
