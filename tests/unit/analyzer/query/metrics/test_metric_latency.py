"""Latency, its parts, its classes and its slowest requests against plain computations and exact percentiles."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import one_in
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from made_rows import SECOND_NS, START_NS, Rows, connection, dataset, exchange, random_exchanges

from analyzer.base.settings import SORTS, Settings
from analyzer.base.wait_kinds import sql as kinds_sql
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.report import latency_components

MS = 1_000_000
PARTS = ("send", "queue", "muted", "proxy", "service", "network", "receive")


def nearest_rank(values: list[int], hundredths: int) -> int:
    """The smallest value that at least so many hundredths of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * hundredths / 100), 1) - 1]


def close(got: int, exact: int) -> bool:
    """Within 0.55 %, and half a ns for rounding to whole ns."""
    return abs(got - exact) <= exact * 0.0055 + 0.5


def split(number: int, *, network: int = 0, **values: int) -> dict[str, Any]:
    """An exchange whose parts are `values` (ms) and `network` (ms)."""
    whole = {f"{name}_ns": values.pop(name, 0) * MS for name in PARTS if name != "network"}
    latency = whole["queue_ns"] + whole["muted_ns"] + whole["proxy_ns"] + whole["service_ns"] + network * MS
    return exchange(number, latency_ns=latency, **whole, **values)


@pytest.fixture(scope="module")
def rows() -> Rows:
    return random_exchanges(seed=11, count=4_000)


@pytest.fixture(scope="module")
def found(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    links = [connection(number, client_address=f"10.0.0.{number % 2}") for number in range(3)]
    with dataset(tmp_path_factory.mktemp("rows"), {"exchanges": rows, "connections": links}) as opened:
        yield opened


def test_latency_agrees_with_plain_python(found: Dataset, rows: Rows) -> None:
    groups: dict[tuple[str, str | None], Rows] = defaultdict(list)
    for row in rows:
        if row["api_key"] is not None:
            groups[row["api_name"], row.get("kind")].append(row)
    got = {(row["api_name"], row["kind"]): row for row in found.metric("latency")}
    assert got.keys() == groups.keys()
    for key, members in groups.items():
        latencies = [row["latency_ns"] for row in members if row.get("latency_ns") is not None]
        row = got[key]
        assert row["count"] == len(members)
        assert row["answered"] == len(latencies)
        assert row["rate_per_s"] == pytest.approx(len(members) / 10)
        assert row["errors"] == sum((each["error_count"] or 0) > 0 for each in members)
        assert row["throttled"] == sum((each.get("throttle_time_ms") or 0) > 0 for each in members)
        assert row["max_ns"] == max(latencies)
        for hundredths in (50, 90, 99):
            assert close(row[f"p{hundredths}_ns"], nearest_rank(latencies, hundredths)), (key, hundredths)


@pytest.mark.parametrize("sort", SORTS["latency"])
def test_rows_are_in_the_order_that_was_asked_for(found: Dataset, sort: str) -> None:
    found.choose(Settings(("api", "client", "version"), sort=sort))
    try:
        rows = found.metric("latency")
    finally:
        found.choose(Settings())

    def place(row: dict[str, Any]) -> tuple[int, float]:
        value = (row["p99_ns"] or 0) * row["count"] if sort == "cost" else row.get(f"{sort}_ns", row.get(sort)) or 0
        return ("broker", "mixed", "wait").index(row["reach"]), -value

    assert len(rows) > 3 and [*map(place, rows)] == sorted(map(place, rows))


@pytest.mark.slow
@hypothesis_settings(max_examples=60 // one_in(3), deadline=None)
@example([(2**61, 0)] * 4)  # their sum does not fit
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.integers(0, 300),
                st.integers(0, 10**12),
                st.integers(0, 2**61),
                st.sampled_from([10**n for n in range(18)]),
            ),
            st.integers(0, 10**10),
        ),
        min_size=1,
        max_size=250,
    )
)
def test_percentiles_are_near_the_nearest_rank(
    bare: Callable[[list[tuple[int, int]], str], dict[str, Any]], times: list[tuple[int, int]]
) -> None:
    for at, measure in enumerate(("latency", "service")):
        row = bare(times, measure)
        values = [each[at] for each in times]
        for hundredths in (50, 90, 95, 99):
            assert close(row[f"p{hundredths}_ns"], nearest_rank(values, hundredths)), hundredths
        assert row["max_ns"] == max(values)
        assert row["sum_ns"] == (sum(values) if sum(values) < 2**63 else None)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[list[tuple[int, int]], str], dict[str, Any]]]:
    """The percentiles of bare times, in one database: opening one for every example would take minutes."""
    import duckdb

    database = duckdb.connect(":memory:", config={"threads": 1})
    with dataset(tmp_path_factory.mktemp("bare"), {"exchanges": [], "entries": []}) as empty:
        for table in ("exchanges", "entries"):
            described = empty.query(f"DESCRIBE {table}")
            columns = ", ".join(f'"{row["column_name"]}" {row["column_type"]}' for row in described)
            database.execute(f"CREATE TABLE {table} ({columns})")
    database.execute(f"CREATE VIEW kinds AS {kinds_sql()}")
    database.execute(f"CREATE VIEW settings AS {Settings().sql()}")
    database.execute("CREATE TABLE applications (client_address TEXT, client_id TEXT, application TEXT)")
    database.execute("CREATE TABLE client_names (connection BIGINT, client_name TEXT)")
    for view in ("exchange_parts", "request_slices", "latency_counts", "latency_slices"):
        database.execute(f"CREATE VIEW {view} AS {metrics.view(view)}")

    def run(times: list[tuple[int, int]], measure: str) -> dict[str, Any]:
        database.execute(f"CREATE OR REPLACE VIEW settings AS {Settings(measure=measure).sql()}")
        database.execute("DELETE FROM exchanges")
        database.execute(
            "INSERT INTO exchanges (status, api_name, latency_ns, service_ns) "
            "SELECT 'answered', 'Fetch', unnest(?), unnest(?)",
            [[each[0] for each in times], [each[1] for each in times]],
        )
        result = database.execute("SELECT * FROM latency_slices")
        names = [column[0] for column in result.description or ()]
        (row,) = result.fetchall()
        return dict(zip(names, row, strict=True))

    yield run
    database.close()


@pytest.mark.parametrize("by", [("client",), ("api", "version"), ("broker", "client"), ("connection",), ("principal",)])
def test_grouping_loses_and_doubles_nothing(found: Dataset, rows: Rows, by: tuple[str, ...]) -> None:
    """Counts of any grouping, in any time slots, add up to all requests; waits by design stay apart."""
    wanted = [row for row in rows if row["status"] != "orphan_reply"]
    for every_ns in (None, 700 * MS):
        found.choose(Settings(by, every_ns))
        got = found.metric("latency")
        assert sum(row["count"] for row in got) == len(wanted)
        assert {row["reach"] for row in got} == {"broker", "wait"}
        waits = sum(row["count"] for row in got if row["reach"] == "wait")
        assert waits == sum(row["kind"] == "fetch_empty" for row in wanted)
        if every_ns:
            assert all(row["slot_ns"] % every_ns == 0 for row in got)
            for row in got:
                inside = [
                    each for each in wanted if row["slot_ns"] <= each["request_time_ns"] < row["slot_ns"] + every_ns
                ]
                assert row["count"] <= len(inside)
    found.choose(Settings())


def test_by_topic_counts_a_request_for_each_topic_and_by_subject_once(tmp_path: Path) -> None:
    rows = [exchange(1), exchange(2), exchange(3), exchange(4, group_id="g")]
    names = [(1, "a"), (1, "a"), (1, "b"), (2, "a"), (4, "a")]
    entries = [{"exchange": number, "connection": 1, "side": "request", "topic": topic} for number, topic in names]
    with dataset(tmp_path, {"exchanges": rows, "entries": entries}) as opened:
        opened.choose(Settings(("topic",)))
        assert {row["topic"]: row["count"] for row in opened.metric("latency")} == {"a": 3, "b": 1, None: 1}
        opened.choose(Settings(("subject",)))
        got = {(row["group_id"], row["topic"], row["topics"]): row["count"] for row in opened.metric("profile")}
    assert got == {(None, "a", 2): 1, (None, "a", 1): 1, (None, None, None): 1, ("g", None, None): 1}


def test_parts_are_sums_over_requests_whose_parts_are_known(tmp_path: Path) -> None:
    rows = [split(n, send=1, queue=2, service=10, network=3, receive=4) for n in range(98)]
    rows += [split(n, muted=900, service=5) for n in (98, 99)]
    rows += [split(100, service=7) | {"broker_ns": None, "broker_min_ns": None, "latency_ns": 1}]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        (row,) = opened.metric("latency")
    assert (row["count"], row["parts_known"]) == (101, 100)
    names = ("send", "queue", "muted", "broker", "network", "receive")
    assert [row[f"parts_{name}_ns"] // MS for name in names] == [98, 196, 1800, 990, 294, 392]
    assert [row[f"slow_{name}_ns"] // MS for name in names] == [0, 0, 1800, 10, 0, 0]
    assert latency_components.where(row) == "throttle 48 %, broker 26 %, receiving 10 %"
    assert latency_components.where(row, "slow") == "throttle 99 %"
    assert latency_components.verdict(row).startswith("a quota")


@pytest.mark.parametrize(
    ("times", "answer"),
    [
        ({"service": 90, "network": 10}, "the broker's own time"),
        ({"service": 10, "network": 90}, "the network"),
        ({"proxy": 90, "service": 10}, "the proxy"),
        ({"queue": 90, "service": 10}, "head-of-line blocking: behind earlier requests"),
        ({"send": 90, "service": 10}, "client or network: requests take long"),
        ({"receive": 90, "service": 10}, "network or slow reader"),
        ({"service": 50, "network": 50}, "no single cause"),
    ],
)
def test_client_network_or_broker(tmp_path: Path, times: dict[str, int], answer: str) -> None:
    with dataset(tmp_path, {"exchanges": [split(number, **times) for number in range(10)]}) as opened:
        (row,) = opened.metric("latency")
    assert latency_components.verdict(row).startswith(answer)


def test_where_the_time_goes_is_not_told_when_most_parts_are_unknown(tmp_path: Path) -> None:
    rows = [split(n, service=1) for n in range(4)] + [exchange(n) for n in range(4, 9)]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        (row,) = opened.metric("latency")
    assert (row["parts_known"], latency_components.where(row)) == (4, "-")


def test_traffic_between_brokers_stands_apart(tmp_path: Path) -> None:
    rows = [exchange(1, role="client"), exchange(2), exchange(3, role="follower"), exchange(4, role="forwarding")]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        assert sum(row["count"] for row in opened.metric("latency")) == 2
        assert {row["role"]: row["count"] for row in opened.metric("brokers")} == {"follower": 1, "forwarding": 1}
        assert {row["exchange"] for row in opened.metric("slowest")} == {1, 2}


def test_profile_agrees_with_plain_python(found: Dataset, rows: Rows) -> None:
    found.choose(Settings(("api", "client")))
    got = found.metric("profile")
    found.choose(Settings())
    wanted: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    sending: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        if row["status"] == "answered":
            key = (row["api_name"], row["kind"], row["client_id"], row["client_address"])
            wanted[key].append(row["latency_ns"])
            sending[key] += row.get("send_ns") or 0
    times = {key: sum(each) + sending[key] for key, each in wanted.items() if key[1] != "fetch_empty"}
    for row in got:
        key = (row["api_name"], row["kind"], row["client_id"], row["client_address"])
        latencies = wanted[key]
        mean = sum(latencies) / len(latencies)
        variance = sum((each - mean) ** 2 for each in latencies) / len(latencies)
        assert row["mean_ns"] == pytest.approx(mean)
        assert row["variance_to_mean_s"] == pytest.approx(variance / mean / 1e9, rel=1e-6)
        assert row["waited_ns"] == times.get(key)
        if key in times:
            assert row["share"] == pytest.approx(times[key] / sum(times.values()))
    costs = [row["waited_ns"] for row in got if row["waited_ns"] is not None]
    assert costs == sorted(costs, reverse=True)
    assert sum(row["share"] or 0 for row in got) == pytest.approx(1)
    assert [row["reach"] for row in got] == sorted(row["reach"] for row in got)  # waits by design last


def test_what_stands_before_the_slowest_is_one_request(tmp_path: Path) -> None:
    """The one that was answered last: one without a kind does not borrow that of another."""
    waits = {"at_ns": START_NS, "api_key": 0, "api_name": "Produce", "kind": "produce_acks_all"}
    rows = [
        exchange(1, latency_ns=4_000_000, **waits),
        exchange(2, latency_ns=6_000_000, at_ns=START_NS),
        exchange(3, latency_ns=9_000_000, queue_ns=6_000_000, **waits),
    ]
    with dataset(tmp_path, {"connections": [connection(1)], "exchanges": rows}) as opened:
        (got,) = (row for row in opened.metric("slowest") if row["exchange"] == 3)
    found = (got["behind_exchange"], got["behind_api_name"], got["behind_kind"], got["behind_latency_ns"])
    assert found == (2, "Metadata", None, 6_000_000)


def test_the_slowest_are_listed_with_their_packets_and_waits_by_design_are_not(tmp_path: Path) -> None:
    rows = [exchange(number, latency_ns=number * MS, response_packet=900 + number) for number in range(30)]
    rows += [exchange(50, latency_ns=10**12, kind="fetch_empty"), exchange(51, latency_ns=10**12, kind="fetch_tail")]
    rows += [exchange(52, latency_ns=10**12, kind="fetch_now"), exchange(53, status="pending")]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        got, more = opened.metric("slowest"), opened.metric("slowest_thousand")
    assert [row["exchange"] for row in got] == list(range(29, 9, -1))
    assert [row["exchange"] for row in more] == list(range(29, -1, -1))
    assert [{name: row[name] for name in more[0]} for row in got] == more[:20]
    assert (got[0]["request_packet"], got[0]["response_packet"], got[0]["request_path"]) == (59, 929, "made.pcap")
    assert got[0]["network_ns"] is None  # its parts are not known


def test_what_sending_took_counts_where_requests_are_ranked(tmp_path: Path) -> None:
    """A client that writes the rest of a request late waits for that too: in the slowest, and in the classes by time."""
    held = {"api_key": 0, "api_name": "Produce", "kind": "produce_acks_all", "latency_ns": 4 * MS, "send_ns": 270 * MS}
    rows = [exchange(1, **held), exchange(2, latency_ns=9 * MS, send_ns=0), exchange(3, latency_ns=8 * MS)]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        assert [row["exchange"] for row in opened.metric("slowest")] == [1, 2, 3]
        opened.choose(Settings(("api",)))
        first, second = opened.metric("profile")
        assert (first["api_name"], first["waited_ns"], first["sending_ns"]) == ("Produce", 274 * MS, 270 * MS)
        assert (second["waited_ns"], second["mean_ns"]) == (17 * MS, 8.5 * MS)
        opened.choose(Settings(("api",), measure="total"))
        assert {row["api_name"]: row["waited_ns"] for row in opened.metric("profile")}["Metadata"] in (None, 17 * MS)


def test_the_side_of_the_capture_is_what_the_handshakes_say(tmp_path: Path) -> None:
    way = {"rtt_ns": 20 * MS, "syn_ack_ns": 1 * MS, "ack_ns": 19 * MS}
    links = [connection(n, **way) for n in range(3)]
    links += [connection(9, rtt_ns=90 * MS, syn_ack_ns=1, ack_ns=1, role="follower"), connection(10, rtt_ns=None)]
    with dataset(tmp_path, {"connections": links}) as opened:
        (row,) = opened.metric("round_trips")
    assert (row["connections"], row["rtt_ns"], row["to_broker_ns"]) == (3, 20 * MS, 1 * MS)


def test_slots_at_the_edge_of_the_capture_are_as_long_as_what_was_captured(tmp_path: Path) -> None:
    rows = [exchange(number, at_ns=START_NS + number * SECOND_NS // 10) for number in range(100)]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        opened.choose(Settings(("api",), 4 * SECOND_NS))
        got = opened.metric("latency")
    assert sum(row["count"] for row in got) == 100
    assert all(row["rate_per_s"] == pytest.approx(10, rel=0.2) for row in got)


@pytest.mark.parametrize(("sort", "client"), [("count", "often"), ("p99", "slow"), ("errors", "failing")])
def test_over_time_the_first_of_the_order_that_is_asked_for_are_kept(sort: str, client: str, tmp_path: Path) -> None:
    rows = [exchange(n, client_id="often", at_ns=START_NS + n, latency_ns=MS) for n in range(20)]
    rows += [exchange(20 + n, client_id="slow", at_ns=START_NS + n * SECOND_NS, latency_ns=9 * MS) for n in range(3)]
    rows += [exchange(30 + n, client_id="failing", latency_ns=MS, error_count=1, error_code=3) for n in range(2)]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        opened.choose(Settings(("client",), every_ns=SECOND_NS, sort=sort, most=1))
        found = opened.metric("latency")
    assert {row["client_id"] for row in found} == {client}
    assert sum(row["count"] for row in found) == sum(row["client_id"] == client for row in rows)
