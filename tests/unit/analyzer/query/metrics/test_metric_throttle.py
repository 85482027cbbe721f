"""Throttling against plain computations: windows as sets of milliseconds, slow and impossible to get wrong."""

from __future__ import annotations

import io
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, Rows, connection, dataset, error, exchange
from rich.console import Console

from analyzer.base.filters import Filters
from analyzer.base.settings import Settings
from analyzer.report.terminal import print_section

MS = 1_000_000


def mute(row: dict[str, Any], ends_ns: int | None = None, **values: Any) -> dict[str, Any]:
    """The mute that a throttled reply opens."""
    begins = row["response_time_ns"]
    ends = begins + row["throttle_time_ms"] * MS
    made = {"exchange": row["exchange"], "connection": row["connection"], "begin_ns": begins}
    made |= {"end_ns": ends if ends_ns is None else min(ends, ends_ns), "throttle_time_ms": row["throttle_time_ms"]}
    return made | {"applies": True, "held_ns": 0, "sent_inside": 0, "resumed_ns": None} | values


def conversation(seed: int) -> tuple[Rows, Rows, Rows]:
    """400 exchanges of six connections of three clients, their connections and mutes."""
    choose = random.Random(seed)
    links = [connection(number, last_time_ns=START_NS + (9_500 + number) * MS) for number in range(6)]
    rows, mutes = [], []
    for number in range(400):
        link = choose.randrange(6)
        told = choose.choice([0, None, 40, 900, 2**31 - 1 if number == 7 else 3])
        values = {"connection": link, "client_id": f"c{link % 3}", "api_name": choose.choice(["Produce", "Fetch"])}
        at = START_NS + choose.randrange(9_000) * MS
        rows.append(exchange(number, at_ns=at, latency_ns=0, throttle_time_ms=told, **values))
        if told:
            mutes.append(mute(rows[-1], links[link]["last_time_ns"]))
    return rows, links, mutes


def muted_ms(mutes: Rows) -> dict[int, set[int]]:
    """Connection -> milliseconds in which it is muted, counted from START_NS."""
    found: dict[int, set[int]] = defaultdict(set)
    for row in mutes:
        found[row["connection"]].update(range((row["begin_ns"] - START_NS) // MS, (row["end_ns"] - START_NS) // MS))
    return found


def test_throttle_agrees_with_plain_python(tmp_path: Path) -> None:
    rows, links, mutes = conversation(5)
    with dataset(tmp_path, {"exchanges": rows, "connections": links, "mutes": mutes}) as opened:
        got = {(row["client_id"], row["api_name"]): row for row in opened.metric("throttle")}
    muted = muted_ms(mutes)
    for (client_id, api), row in got.items():
        mine = [each for each in rows if each["client_id"] == client_id and each["api_name"] == api]
        times = [each["throttle_time_ms"] for each in mine]
        assert row["replies"] == len(mine)
        assert row["unknown"] == times.count(None)
        assert row["throttled"] == sum((each or 0) > 0 for each in times)
        assert row["throttle_time_ms"] == sum(each or 0 for each in times)
        assert row["max_throttle_time_ms"] == max(each or 0 for each in times)
        own = [link for link in range(6) if f"c{link % 3}" == client_id]
        assert row["throttled_ns"] == max(len(muted[link]) for link in own) * MS
        assert row["share"] == pytest.approx(max(len(muted[link]) / (9_500 + link) for link in own))
    assert got.keys() == {(f"c{link % 3}", api) for link in range(3) for api in ("Produce", "Fetch")}


@pytest.mark.parametrize("by", [("client",), ("api",), ("principal",), ("broker", "client")])
def test_any_grouping_adds_up_to_the_same_replies(tmp_path: Path, by: tuple[str, ...]) -> None:
    rows, links, mutes = conversation(6)
    with dataset(tmp_path, {"exchanges": rows, "connections": links, "mutes": mutes}) as opened:
        opened.choose(Settings(by))
        got = opened.metric("throttle")
    assert sum(row["throttled"] for row in got) == len(mutes)
    assert sum(row["throttle_time_ms"] for row in got) == sum(row["throttle_time_ms"] for row in mutes)
    # Neither the time nor the share is ever a sum over connections.
    most = max(len(each) for each in muted_ms(mutes).values()) * MS
    assert max(row["throttled_ns"] for row in got) == most
    assert all(row["share"] <= 1 for row in got)


@pytest.mark.parametrize("every_ms", [130, 1_000, 20_000])
def test_over_time_agrees_with_plain_python(tmp_path: Path, every_ms: int) -> None:
    rows, links, mutes = conversation(7)
    with dataset(tmp_path, {"exchanges": rows, "connections": links, "mutes": mutes}) as opened:
        opened.choose(Settings(every_ns=every_ms * MS))
        got = {row["slot_ns"]: row for row in opened.metric("throttle_over_time")}
    worst: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for link, moments in muted_ms(mutes).items():
        for each in moments:
            at = START_NS + each * MS
            worst[at - at % (every_ms * MS)][link] += 1
    told: dict[int, int] = defaultdict(int)
    for row in mutes:
        told[row["begin_ns"] - row["begin_ns"] % (every_ms * MS)] += row["throttle_time_ms"]
    assert got.keys() == worst.keys() | told.keys()
    for slot, row in got.items():
        assert row["throttle_time_ms"] == told[slot]
        assert row["connections"] == len(worst[slot])
        assert row["muted_ns"] == max(worst[slot].values(), default=0) * MS
        assert 0 <= row["share"] <= 1


def test_without_slots_there_is_one_row_for_the_whole_time(tmp_path: Path) -> None:
    rows, links, mutes = conversation(8)
    with dataset(tmp_path, {"exchanges": rows, "connections": links, "mutes": mutes}) as opened:
        (row,) = opened.metric("throttle_over_time")
    assert row["throttled"] == len(mutes)


def test_what_a_mute_does_is_told_apart(tmp_path: Path) -> None:
    rows = [exchange(number, throttle_time_ms=100, at_ns=START_NS + number * SECOND_NS) for number in range(6)]
    mutes = [
        mute(rows[0], held_ns=70 * MS, sent_inside=2),
        mute(rows[1], resumed_ns=3 * MS),  # silent to the end, and on at once
        mute(rows[2], resumed_ns=3 * SECOND_NS),  # had nothing to do
        mute(rows[3], sent_inside=1, resumed_ns=0),
        mute(rows[4], applies=None),
        mute(rows[5], applies=False),
    ]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "mutes": mutes}) as opened:
        (row,) = opened.metric("throttle")
    assert (row["held_ns"], row["sent_inside"]) == (70 * MS, 3)
    assert row["paused_ns"] == 100 * MS
    assert row["unsure"] == 1
    # The reply of the old broker came after 1 ms: no more than that can have been the throttle, and it mutes nothing.
    assert (row["delayed"], row["delayed_ns"]) == (1, MS)
    assert row["throttled_ns"] == 500 * MS


def test_a_broker_before_2_0_is_said_to_delay_and_never_to_mute(tmp_path: Path) -> None:
    rows = [exchange(1, throttle_time_ms=900, latency_ns=901 * MS)]
    tables = {"exchanges": rows, "connections": [connection(1)], "mutes": [mute(rows[0], applies=False)]}
    sink = io.StringIO()
    with dataset(tmp_path, tables) as opened:
        (row,) = opened.metric("throttle")
        print_section(opened, "throttle", Console(file=sink, width=120))
    assert (row["throttled_ns"], row["share"], row["delayed_ns"]) == (None, None, 900 * MS)
    assert "no (delayed)" in sink.getvalue()
    assert "900 ms" in sink.getvalue()
    assert "waited:" not in sink.getvalue()


def test_the_time_that_counts_cuts_windows_and_lives(tmp_path: Path) -> None:
    rows = [exchange(1, throttle_time_ms=4_000, latency_ns=0), exchange(2, at_ns=START_NS + 3 * SECOND_NS)]
    tables = {"exchanges": rows, "connections": [connection(1)], "mutes": [mute(rows[0])]}
    filters = Filters(from_ns=START_NS, to_ns=START_NS + 2 * SECOND_NS)
    with dataset(tmp_path, tables, filters=filters) as opened:
        (row,) = opened.metric("throttle")
    assert (row["throttled_ns"], row["share"]) == (2 * SECOND_NS, 1)


def test_refusals_are_throttles_and_brokers_among_themselves_are_not_clients(tmp_path: Path) -> None:
    rows = [exchange(1, throttle_time_ms=10), exchange(2, throttle_time_ms=10, role="forwarding", connection=2)]
    tables = {"exchanges": rows, "connections": [connection(1), connection(2, role="forwarding")]}
    tables |= {"mutes": [mute(row) for row in rows], "errors": [error(1, 89), error(1, 89), error(2, 89)]}
    with dataset(tmp_path, tables) as opened:
        (row,) = opened.metric("throttle")
        (whole,) = opened.metric("throttle_over_time")
    assert (row["throttled"], row["refused"]) == (1, 1)
    assert (whole["throttled"], whole["connections"]) == (1, 1)
