"""What a seed may do, and what a seed means."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lab.jars import BROKER_VERSION, NEW_VERSION, NEWEST_VERSION

if TYPE_CHECKING:
    from lab.seeds.scene import Scene

HEALTHY = "healthy"
LIBRARIES = (
    "librdkafka",
    "librdkafka",
    "java-3.9.1",
    "java-4.1.0",
    "python",
    "franz-go",
    "kafka-go",
    "sarama",
    "kafkajs",
)


@dataclass(frozen=True, slots=True)
class Told:
    """What the first finding must name: one of these rules, and of each list of the subject one word. Nothing on a healthy day."""

    causes: list[str] = field(default_factory=list)
    subject: list[list[str]] = field(default_factory=list)
    above: bool | None = None  # whether it must be told, where only the run shows


@dataclass(frozen=True, slots=True)
class Cause:
    name: str
    weakest: float
    strongest: float
    least: float  # from where on it must be told
    do: Callable[[Scene], Told]
    unit: str | None = None  # where the strength is a dose: the plainer, the more of it
    falls: bool = False  # the plainer, the less of it

    @property
    def healthy(self) -> bool:
        return self.name.startswith(HEALTHY)


CAUSES: dict[str, Cause] = {}


def cause(
    weakest: float, strongest: float, unit: str | None = None, *, least: float = 0.0, falls: bool = False
) -> Callable[[Callable[[Scene], Told]], Callable[[Scene], Told]]:
    """A function is a cause of its name; the strength is drawn between both, and told of in its comment or its unit."""

    def known(do: Callable[[Scene], Told]) -> Callable[[Scene], Told]:
        CAUSES[do.__name__] = Cause(do.__name__, weakest, strongest, least, do, unit, falls)
        return do

    return known


@dataclass(frozen=True, slots=True)
class Draw:
    """What a seed means. `library` and `name` are of the client that is in trouble, or works."""

    seed: int
    cause: str
    strength: float
    after_s: float
    place: int  # which of three brokers
    version: str
    library: str
    name: str
    topic: str
    at_client: bool  # where the capture is taken: beside the client, or at the switch
    late: bool  # whether the clients were connected long before the capture
    snap: int
    lost: float  # share of packets that the capture lacks
    others_per_s: float


def swept(name: str, seeds: list[int]) -> list[Draw]:
    """A cause alone, from its weakest to its strongest; all else as the seeds have it."""
    chosen, steps = CAUSES[name], max(len(seeds) - 1, 1)
    return [
        replace(
            draw(seed),
            cause=name,
            strength=float(f"{chosen.weakest * (chosen.strongest / chosen.weakest) ** (at / steps):.3g}"),
        )
        for at, seed in enumerate(seeds)
    ]


def draw(seed: int) -> Draw:
    """The same for the same seed. Of as many seeds as there are causes, from a multiple on, each has another cause."""
    names = sorted(CAUSES)
    random.Random(f"round {seed // len(names)}").shuffle(names)
    chosen = CAUSES[names[seed % len(names)]]
    chance = random.Random(f"kanalyze {seed}")
    return Draw(
        seed=seed,
        cause=chosen.name,
        strength=float(f"{chosen.weakest * (chosen.strongest / chosen.weakest) ** chance.random():.3g}"),
        after_s=round(chance.uniform(2, 6), 1),
        place=chance.randint(1, 3),
        version=chance.choice([BROKER_VERSION, NEW_VERSION, NEWEST_VERSION]),
        library=chance.choice(LIBRARIES),
        # Its own: members of a seed before it may still be in the group of that name.
        name=chance.choice(["till", "depot", "meter", "crm"]) + f"-{chance.randint(1, 99)}-{seed}",
        topic=f"{chance.choice(['orders', 'invoices', 'clicks'])}-{seed}",
        at_client=chance.random() < 0.4,
        late=chance.random() < 0.4,
        snap=chance.choice([0, 0, 0, 128]),
        lost=chance.choice([0.0, 0.0, 0.0, 0.001]),
        others_per_s=chance.choice([2.0, 10.0, 40.0]),
    )
