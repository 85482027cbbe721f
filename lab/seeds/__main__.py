"""`python -m lab.seeds 1-12 40` runs seeds, `python -m lab.seeds --judge 1-12` judges them: a row each, by what kanalyze says.

`--sweep CAUSE 1-8` runs a cause alone, from its weakest to its strongest; `--strengths FILE` tells from which strength on
causes are found, by rows of `--judge` in a file. A run's capture and truth go to `build/lab/seeds/SEED`, which is not kept in
git. Seeds of a version share three brokers and a controller, one after the other. Rules are worked on with some seeds, and
others are opened only to count: a rule that fits the first ones alone shows.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.jars import CACHE
from lab.score import judge
from lab.seeds import of_brokers, of_clients, of_days, of_groups, of_networks, of_newer
from lab.seeds.causes import CAUSES, HEALTHY, Draw, Told, draw, swept
from lab.seeds.scene import Scene, world
from lab.seeds.strengths import table
from lab.seeds.thin import thinned
from lab.session import Lab

KINDS = (of_brokers, of_clients, of_days, of_groups, of_networks, of_newer)  # each makes its causes known
RUNS = CACHE / "seeds"


def run(draws: Iterable[Draw]) -> None:
    """Runs them, those of a version together; a seed that fails is told, its world is left, and the rest goes on."""
    by_version: dict[str, list[Draw]] = {}
    for drawn in draws:
        by_version.setdefault(drawn.version, []).append(drawn)
    for version, every in by_version.items():
        left = list(every)
        while left:
            folder = RUNS / f"world-{version}-{left[0].seed}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                lab = world(folder, version)
            except RuntimeError:
                traceback.print_exc()
                print(f"{left.pop(0).seed}\tno brokers", flush=True)
                continue
            try:
                while left and _made(lab, left.pop(0)):
                    pass
            finally:
                lab.close()


def _made(lab: Lab, drawn: Draw) -> bool:
    """Whether its brokers are fit for another."""
    folder, began = RUNS / str(drawn.seed), time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scene = Scene(lab, drawn, folder)
    try:
        _keep(scene, CAUSES[drawn.cause].do(scene), folder)
        scene.close()
    except Exception:
        traceback.print_exc()
        print(f"{drawn.seed}\t{drawn.cause}\tdid not run", flush=True)
        return False
    print(f"{drawn.seed}\t{drawn.cause}\tmade in {time.monotonic() - began:.0f} s", flush=True)
    return True


def _keep(scene: Scene, told: Told, folder: Path) -> None:
    drawn, chosen = scene.drawn, CAUSES[scene.drawn.cause]
    (captured,) = scene.lab.captures[""]
    if captured.stat().st_size <= 24:
        raise RuntimeError("nothing was captured: the client did not come in time")
    (folder / "capture.pcap").write_bytes(thinned(captured.read_bytes(), drawn.lost, drawn.seed))
    captured.unlink()
    above = drawn.strength >= chosen.least if told.above is None else told.above
    truth = {
        "name": f"seed_{drawn.seed}",
        "kind": HEALTHY if chosen.healthy else "incident",
        "causes": told.causes,
        "subject": told.subject,
        "above": above and not chosen.healthy,
        "drawn": asdict(drawn),
        "done": [asdict(step) for step in scene.lab.steps],
    }
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")


def row(truth: dict[str, Any], path: Path) -> str:
    """Seed, cause and strength, whether it must be told, whether that is right, and what was said."""
    drawn, verdict = truth["drawn"], judge(truth, path)
    mark = "right" if verdict.right else "nothing" if verdict.said == ["nothing"] else "wrong"
    above = "above" if truth["above"] else HEALTHY if truth["kind"] == HEALTHY else "below"
    said = verdict.said[0] if verdict.said else ""
    return f"{drawn['seed']}\t{drawn['cause']}\t{drawn['strength']}\t{above}\t{mark}\t{said}"


def _numbers(words: list[str]) -> Iterator[int]:
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main(words: list[str]) -> int:
    """The exit code: 1 for who is not root."""
    if words[:1] == ["--judge"]:
        for seed in _numbers(words[1:]):
            folder = RUNS / str(seed)
            if (folder / "truth.json").exists():
                truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
                print(row(truth, folder / "capture.pcap"), flush=True)
        return 0
    if words[:1] == ["--strengths"]:
        print(table(Path(words[1]).read_text(encoding="utf-8").splitlines()))
        return 0
    if os.geteuid():
        print("the lab makes network namespaces: it must be run as root", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run(swept(words[1], list(_numbers(words[2:]))) if words[:1] == ["--sweep"] else map(draw, _numbers(words)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
