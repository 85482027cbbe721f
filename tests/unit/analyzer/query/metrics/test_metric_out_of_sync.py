"""Who fell out of the ISR, against a walk over the changes in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import pytest
from broker_stories import altered, at, told
from made_rows import SECOND_NS, capture, dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find

Change = tuple[float, int, str, str]


def changes(seed: int) -> list[Change]:
    """Changes of the ISR of four partitions, each led by 1 or 2 and held by up to four brokers."""
    chance = random.Random(seed)
    found: list[Change] = []
    for n in range(chance.randrange(2, 40)):
        partition = chance.randrange(4)
        leader = 1 + partition % 2
        isr = {leader, *(each for each in (1, 2, 3, 4) if chance.random() < 0.6)}
        found.append((n + 1.0, leader, f"t-{partition}", ",".join(map(str, sorted(isr)))))
    return found


def drops(asked: list[Change]) -> dict[tuple[int, int], list[tuple[str, float, float | None]]]:
    """(leader, broker) -> partition, when it was dropped, when it was back."""
    found = defaultdict(list)
    by_partition = defaultdict(list)
    for when, leader, partition, isr in asked:
        by_partition[partition].append((when, leader, {int(each) for each in isr.split(",")}))
    for partition, steps in by_partition.items():
        known = set().union(*(isr for _, _, isr in steps))
        for n, (when, leader, isr) in enumerate(steps):
            for broker in known - isr:
                if broker in steps[n - 1][2] if n else len(isr) == 1:
                    back = next((later for later, _, after in steps[n + 1 :] if broker in after), None)
                    found[leader, broker].append((partition, when, back))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_drops(seed: int, tmp_path: Path) -> None:
    asked = changes(seed)
    found = drops(asked)
    leaders_of = defaultdict(set)
    for leader, broker in found:
        leaders_of[broker].add(leader)
    wanted = defaultdict(list)
    for (leader, broker), each in found.items():
        others = {one for at_leader, one in found if at_leader == leader and len(leaders_of[one]) == 1}
        if len(leaders_of[broker]) > 1:
            wanted[None, broker] += each
        else:
            wanted[leader, broker if len(others) == 1 else None] += each
    with dataset(tmp_path, altered(*asked) | {"captures": [capture(last_time_ns=at(60))]}) as made:
        rows = made.metric("out_of_sync")
    told_by_row = {}
    for row in rows:
        which = tuple(int(row[side].split(" ")[0]) if row[side] else None for side in ("leader", "follower"))
        told_by_row[which] = (row["partitions"], row["longest_ns"], row["away"])
    assert told_by_row == {
        which: (
            len({partition for partition, _, _ in each}),
            max(int((60 if back is None else back) - when) for _, when, back in each) * SECOND_NS,
            len({partition for partition, _, back in each if back is None}) or None,
        )
        for which, each in wanted.items()
    }


def test_a_leader_that_drops_several_is_named_itself(tmp_path: Path) -> None:
    story = altered((5, 1, "t-0", "1,2,3"), (9, 1, "t-0", "1"), (12, 1, "t-0", "1,2,3"))
    with dataset(tmp_path, story | {"captures": [capture(last_time_ns=at(60))]}) as made:
        (found,) = find(made, [rule("out_of_sync")])
    assert (found.row["dropper"], found.row["followers"], found.row["follower"]) == ("1 (10.0.1.1)", 2, None)
    assert found.row["host"] == "10.0.1.1"


def test_a_stop_that_is_granted_ends_the_wait_for_it(tmp_path: Path) -> None:
    story = told("pending_controlled_shutdown", [10, 12, 14], granted=True)
    with dataset(tmp_path, story) as made:
        (row,) = [row for row in made.metric("broker_states") if row["broker_state"] != "silent"]
    assert (row["broker_state"], row["lasts_ns"]) == ("pending_controlled_shutdown", 4 * SECOND_NS)
