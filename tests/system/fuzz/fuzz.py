"""Fuzzing: damaged inputs of every kind until the time is over.

    python tests/system/fuzz/fuzz.py [--seconds N] [--inputs N] [--seed N] [--kinds NAME,...] [--keep FOLDER] [--log SECONDS]

Each round has a seed of its own, so that `--replay KIND:SEED` runs it again; FOLDER/running names the round under way
(for crashes that leave no exception). An input that breaks a law is written to FOLDER. Kinds share the time by weight.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

# This is also a program: the helpers of all tests, and the project itself.
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from kind_batches import Batches  # noqa: E402
from kind_captures import Captures  # noqa: E402
from kind_conversations import Conversations  # noqa: E402
from kind_messages import Messages  # noqa: E402
from kind_packets import PacketLayers  # noqa: E402
from kind_records import Records  # noqa: E402
from kind_runs import Runs, Verbs  # noqa: E402
from kind_segments import Segments  # noqa: E402
from kind_tls import Tls  # noqa: E402
from kind_trees import Trees  # noqa: E402
from kinds import Kind, keep, load  # noqa: E402

# Kind -> its share of the time.
KINDS: dict[str, tuple[type, float]] = {
    kind.name: (kind, weight)
    for kind, weight in (
        (Messages, 3), (Batches, 1), (Conversations, 2), (Segments, 2), (PacketLayers, 1), (Captures, 2), (Records, 1),
        (Trees, 1), (Runs, 0.7), (Verbs, 1), (Tls, 1),
    )
}  # fmt: skip
SLOW_SECONDS = 2.0  # of processor time for one round, whose inputs are some 100 kB at most: it should take milliseconds
SLOW_VERB_SECONDS = 10.0
HANGS_SECONDS = 120
MOST_FAILURES_KEPT = 40


@dataclass
class Tally:
    """What a run found."""

    inputs: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    slowest: dict[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.inputs.values())

    def lines(self) -> list[str]:
        spent = sum(self.seconds.values()) or 1.0
        found = [
            f"{name:10} {count:>10,} inputs {self.seconds[name]:8.1f} s {count / (self.seconds[name] or 1):>9,.0f}/s"
            f"   slowest round {self.slowest[name][0]:.2f} s ({self.slowest[name][1]})"
            for name, count in self.inputs.items()
            # Of a given number of inputs a kind may get none.
            if name in self.slowest
        ]
        found.append(
            f"{self.total:,} inputs in {spent:,.0f} s ({self.total / spent:,.0f}/s), {len(self.failures)} failures, "
            f"peak memory {peak_bytes() >> 20} MiB"
        )
        return found


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Fuzzer:
    """Runs rounds of the chosen kinds; `keep_in` None keeps nothing."""

    def __init__(self, names: Sequence[str], keep_in: Path | None) -> None:
        self.kinds: dict[str, Kind] = {name: KINDS[name][0]() for name in names}
        self.keep_in = keep_in
        self.tally = Tally(dict.fromkeys(names, 0), dict.fromkeys(names, 0.0))
        self.running = None
        if keep_in is not None:
            keep_in.mkdir(parents=True, exist_ok=True)
            self.running = os.open(keep_in / "running", os.O_WRONLY | os.O_CREAT, 0o644)

    def go(self, seconds: float, most_inputs: int | None, seed: int, log_seconds: float = 0) -> Tally:
        """Rounds until the time is over and each kind had one, or until `most_inputs` is reached."""
        stop, say = time.monotonic() + seconds, time.monotonic() + log_seconds
        while most_inputs is None or self.tally.total < most_inputs:
            if time.monotonic() >= stop and all(self.tally.inputs[name] for name in self.kinds):
                break
            name = min(self.kinds, key=lambda each: self.tally.seconds[each] / KINDS[each][1])
            self.round(name, seed)
            seed += 1
            if log_seconds and time.monotonic() > say:
                say += log_seconds
                print(time.strftime("%H:%M:%S"), *self.tally.lines(), sep="\n", flush=True)
        return self.tally

    def round(self, name: str, seed: int) -> None:
        kind, label = self.kinds[name], f"{name}:{seed}"
        if self.running is not None:
            os.pwrite(self.running, f"{label:40}\n".encode(), 0)
        faulthandler.dump_traceback_later(HANGS_SECONDS, exit=True)
        begin = time.perf_counter()
        chance = Random(label)
        inputs = [kind.make(chance) for _ in range(kind.round_inputs)]
        worked = time.process_time()  # what a busy machine does not change
        try:
            kind.check(inputs)
        except Exception:
            self.failed(kind, label, inputs, traceback.format_exc(limit=-5))
        finally:
            faulthandler.cancel_dump_traceback_later()
        worked = time.process_time() - worked
        self.tally.inputs[name] += len(inputs)
        self.tally.seconds[name] += time.perf_counter() - begin
        if worked > self.tally.slowest.get(name, (-1.0, ""))[0]:
            self.tally.slowest[name] = (worked, label)
        if worked > (SLOW_VERB_SECONDS if name == "verbs" else SLOW_SECONDS):
            self.failed(kind, label, inputs, f"slow: {worked:.1f} s")

    def failed(self, kind: Kind, label: str, inputs: Sequence[Any], why: str) -> None:
        self.tally.failures.append(f"{label}\n{why}")
        if len(self.tally.failures) > MOST_FAILURES_KEPT:
            return
        print(f"{label}\n{why[:3000]}", flush=True)
        if self.keep_in is not None:
            alone = [each for each in inputs if breaks(kind, [each])] if len(inputs) > 1 else []
            keep(
                self.keep_in,
                label.replace(":", "_"),
                kind.name,
                alone[:1] or inputs,
                why.strip().splitlines()[-1][:500],
            )


def breaks(kind: Kind, inputs: Sequence[Any]) -> bool:
    """Whether a round of these fails."""
    try:
        kind.check(inputs)
    except Exception:
        return True
    return False


def replay(path: Path) -> None:
    """Runs the inputs of a kept file once more. Raises what they raise."""
    name, inputs = load(path)
    KINDS[name][0]().check(inputs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--log", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--replay", metavar="KIND:SEED or FILE")
    asked = parser.parse_args()
    if asked.replay and Path(asked.replay).exists():
        replay(Path(asked.replay))
        return 0
    fuzzer = Fuzzer(asked.kinds.split(","), asked.keep)
    if asked.replay:
        name, _, seed = asked.replay.partition(":")
        fuzzer.round(name, int(seed))
    else:
        fuzzer.go(asked.seconds, asked.inputs, asked.seed, asked.log)
    print(*fuzzer.tally.lines(), sep="\n")
    return 1 if fuzzer.tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
