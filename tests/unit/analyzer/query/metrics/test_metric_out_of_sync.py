"""Who fell out of the ISR, against a walk over the changes in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from broker_stories import altered, at, told
from made_rows import SECOND_NS, capture, dataset

from analyzer.base.filters import Filters
from analyzer.query.findings import rule
from analyzer.query.run_findings import find

Change = tuple[float, int, str, str, int]
END_S = 300


def changes(seed: int) -> list[Change]:
    """Changes of the ISR of four partitions, each led by 1 or 2 and held by up to four brokers."""
    chance = random.Random(seed)
    found: list[Change] = []
    known: dict[int, tuple[set[int], int]] = {}
    for n in range(chance.randrange(2, 40)):
        partition = chance.randrange(4)
        leader = 1 + partition % 2
        before, epoch = known.get(partition, ({1, 2, 3, 4}, 0))
        isr = {leader, *(each for each in before | set(chance.choices((1, 2, 3, 4), k=2)) if chance.random() < 0.6)}
        epoch += chance.choice((1, 1, 1, 2))
        known[partition] = (isr, epoch)
        found.append((5 * n + 1.0, leader, f"t-{partition}", ",".join(map(str, sorted(isr))), epoch))
    return found


def drops(asked: list[Change]) -> dict[tuple[int, int], list[tuple[str, float, float | None]]]:
    """(leader, broker) -> partition, when it was dropped, when it was back."""
    found = defaultdict(list)
    by_partition = defaultdict(list)
    for when, leader, partition, isr, epoch in asked:
        by_partition[partition].append((when, leader, {int(each) for each in isr.split(",")}, epoch))
    for partition, steps in by_partition.items():
        known = set().union(*(isr for _, _, isr, _ in steps))
        for n, (when, leader, isr, epoch) in enumerate(steps):
            before = steps[n - 1][2] if n and steps[n - 1][3] + 1 == epoch else None
            if before is None and len(isr) == 1 and len(known) == 2:
                before = known
            for broker in before - isr if before and isr <= before else ():
                back = next((later for later, _, after, _ in steps[n + 1 :] if broker in after), None)
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
        for drop in each:
            others = {
                one
                for (at_leader, one), theirs in found.items()
                if at_leader == leader
                and len(leaders_of[one]) == 1
                and any(abs(at - drop[1]) <= 15 for _, at, _ in theirs)
            }
            if len(leaders_of[broker]) > 1:
                wanted[None, broker].append(drop)
            else:
                wanted[leader, broker if len(others) == 1 else None].append(drop)
    story = altered(*asked, last_time_ns=at(END_S)) | {"captures": [capture(last_time_ns=at(END_S))]}
    with dataset(tmp_path, story) as made:
        rows = made.metric("out_of_sync")
    told_by_row = {}
    for row in rows:
        which = tuple(int(row[side].split(" ")[0]) if row[side] else None for side in ("leader", "follower"))
        told_by_row[which] = (row["partitions"], row["longest_ns"], row["away"])
    assert told_by_row == {
        which: (
            len({partition for partition, _, _ in each}),
            max(int((END_S if back is None else back) - when) for _, when, back in each) * SECOND_NS,
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


def test_a_leader_that_drops_one_after_the_other_is_not_named_itself(tmp_path: Path) -> None:
    """As where a capture has the messages of one leader only."""
    story = altered(
        *((5, 1, "t-0", "1,2,3"), (9, 1, "t-0", "1,2"), (12, 1, "t-0", "1,2,3"), (40, 1, "t-0", "1,3")),
        last_time_ns=at(60),
    )
    with dataset(tmp_path, story | {"captures": [capture(last_time_ns=at(60))]}) as made:
        rows = made.metric("out_of_sync")
    assert {(row["follower"], row["leader"], row["followers"]) for row in rows} == {
        ("2", "1 (10.0.1.1)", None),
        ("3 (10.0.1.3)", "1 (10.0.1.1)", None),
    }


@pytest.mark.parametrize(
    ("link", "longest_s", "away"),
    (
        ({}, 55, 1),
        # The controller changed: what its leader says after that is not in the capture.
        ({"last_time_ns": at(20), "close": "rst"}, 15, None),
        ({"client_gap_bytes": 90}, None, None),
    ),
)
def test_still_out_as_long_as_its_leader_is_heard(
    link: dict[str, Any], longest_s: int | None, away: int | None, tmp_path: Path
) -> None:
    story = altered((3, 1, "t-0", "1,3"), (5, 1, "t-0", "1"), **link)
    with dataset(tmp_path, story | {"captures": [capture(last_time_ns=at(60))]}) as made:
        (row,) = made.metric("out_of_sync")
        (found,) = find(made, [rule("out_of_sync")])
    assert (row["longest_ns"], row["away"]) == (longest_s and longest_s * SECOND_NS, away)
    assert found.row["how_often"] == ("once, for" if longest_s else "once")


def test_a_change_that_two_capture_points_saw_is_one(tmp_path: Path) -> None:
    story = altered((3, 1, "t-0", "1,3"), (5, 1, "t-0", "1"), (20, 1, "t-0", "1,3"))
    again = {"connection": 10, "exchange": 500}
    for name in ("broker_events", "exchanges"):
        rows = [row for row in story[name] if row["connection"] == 9]
        story[name] += [row | again | {"exchange": 500 + n} for n, row in enumerate(rows)]
    story["connections"].append(story["connections"][0] | {"connection": 10, "tap": "another"})
    with dataset(tmp_path, story) as made:
        (row,) = made.metric("out_of_sync")
    assert row["times"] == 1


def test_a_broker_of_that_number_in_another_cluster_is_not_it(tmp_path: Path) -> None:
    story = altered((3, 1, "t-0", "1,3"), (5, 1, "t-0", "1"))
    story["connections"][1]["cluster"] = "another"
    with dataset(tmp_path, story) as made:
        (row,) = made.metric("out_of_sync")
    assert row["follower"] == "3"


@pytest.mark.parametrize(
    ("chosen", "longest_s"),
    (
        (Filters(topics=("t",)), 15),
        # What was before and after it counts, too.
        (Filters(from_ns=at(4), to_ns=at(10)), 15),
        (Filters(from_ns=at(10)), None),
        (Filters(topics=("another",)), None),
    ),
)
def test_filters_choose_among_drops(chosen: Filters, longest_s: int | None, tmp_path: Path) -> None:
    story = altered((3, 1, "t-0", "1,2,3"), (5, 1, "t-0", "1,2"), (20, 1, "t-0", "1,2,3"))
    entries = [{"exchange": n, "connection": 9, "side": "request", "topic": "t"} for n in range(3)]
    with dataset(tmp_path, story | {"entries": entries}, filters=chosen) as made:
        rows = made.metric("out_of_sync")
    assert [row["longest_ns"] for row in rows] == ([] if longest_s is None else [longest_s * SECOND_NS])
