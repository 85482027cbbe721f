"""What rates are over, and that the report's busiest clients and topics are those of the longer metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_rows import SECOND_NS, START_NS, capture, connection, dataset, exchange
from paths import SAMPLES

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset


def captured(folder: Path, spans: list[tuple[float, float]], filters: Filters | None = None) -> int | None:
    """Captured time, of files that last from second to second."""
    files = [
        capture(
            file=number,
            path=f"{number}.pcap",
            first_time_ns=START_NS + round(begin * SECOND_NS),
            last_time_ns=START_NS + round(end * SECOND_NS),
        )
        for number, (begin, end) in enumerate(spans)
    ]
    with dataset(folder, {"captures": files}, filters=filters) as found:
        (row,) = found.query("SELECT captured_ns FROM time_range")
    answer: int | None = row["captured_ns"]
    return answer


@pytest.mark.parametrize(
    ("spans", "seconds"),
    [
        ([(0, 10)], 10),
        ([(0, 10), (100, 130)], 40),  # two captures of their own
        ([(0, 60), (61, 120), (120.5, 180)], 180),  # written by turns
        ([(0, 60), (5, 20), (30, 70)], 70),  # from two places, at once
        ([(100, 130), (0, 10)], 40),
        ([(0, 100), (109, 209), (225, 325)], 309),  # a tenth of a file is no gap, more is one
        ([(5, 5)], 0),
    ],
)
def test_rates_are_over_what_was_captured(tmp_path: Path, spans: list[tuple[float, float]], seconds: float) -> None:
    assert captured(tmp_path, spans) == round(seconds * SECOND_NS)


def test_filters_of_time_narrow_it(tmp_path: Path) -> None:
    asked = Filters(from_ns=START_NS + 5 * SECOND_NS, to_ns=START_NS + 110 * SECOND_NS)
    assert captured(tmp_path, [(0, 10), (100, 130), (200, 210)], asked) == 15 * SECOND_NS


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=6))
def test_it_is_the_union_of_the_files_with_their_small_gaps(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[int, int]]
) -> None:
    """In whole seconds nothing is between a second and a tenth of a file but a file's own length."""
    files = sorted((begin, begin + length) for begin, length in spans)
    covered = {second for begin, end in files for second in range(begin, end)}
    at = files[0][1]
    for begin, end in files[1:]:
        if end > at and at < begin <= at + max(1, (end - begin) / 10) and end > begin:
            covered |= set(range(at, begin))
        at = max(at, end)
    assert captured(tmp_path_factory.mktemp("files"), list(files)) == len(covered) * SECOND_NS


def test_no_file_has_no_rates(tmp_path: Path) -> None:
    with dataset(tmp_path, {"captures": [capture(first_time_ns=None, last_time_ns=None)]}) as found:
        assert found.query("SELECT * FROM time_range") == [
            {"first_time_ns": None, "last_time_ns": None, "captured_ns": None}
        ]
        assert found.metric("top_topics") == []


@pytest.fixture(scope="module", params=["throttle", "transactions", "old_java", "groups_848"])
def sample(request: pytest.FixtureRequest) -> Iterator[Dataset]:
    with open_dataset([str(SAMPLES / f"{request.param}.pcap.zst")], Options()) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize(("short", "long"), [("top_clients", "clients"), ("top_topics", "topics")])
def test_the_busiest_are_those_of_the_longer_metric(sample: Dataset, short: str, long: str) -> None:
    rows, whole = sample.metric(short), sample.metric(long)
    assert rows[0]["total_rows"] == len(whole)
    shared = [name for name in rows[0] if name in whole[0]]
    assert len(shared) >= 8
    assert [[row[name] for name in shared] for row in rows] == [
        [row[name] for name in shared] for row in whole[: len(rows)]
    ]


def brokers_counted(folder: Path, named: list[str], connections: list[dict[str, Any]], api: int = 3) -> tuple[int, int]:
    """Brokers and clusters of a capture in which replies (of Metadata) named these hosts as nodes 1, 2 ... of cluster c."""
    rows = [{"cluster": "c", "broker_id": n, "host": host, "port": 9092} for n, host in enumerate(named, 1)]
    asked = [exchange(1, connection=connections[0]["connection"], api_key=api)]
    with dataset(folder, {"connections": connections, "brokers": rows, "exchanges": asked}) as found:
        (row,) = found.metric("coverage")
    return row["brokers"], row["clusters"]


def test_what_is_before_brokers_is_no_broker(tmp_path: Path) -> None:
    nodes = [f"10.0.1.{n}" for n in (1, 2, 3)]
    known = [connection(n, broker_address=nodes[n - 1], broker_id=n, cluster="c") for n in (1, 2, 3)]
    balancer = connection(4, broker_address="10.0.9.9", cluster="c")
    assert brokers_counted(tmp_path / "alone", nodes, [balancer]) == (1, 1)
    assert brokers_counted(tmp_path / "before", nodes, [*known, balancer]) == (3, 1)
    # Of names it is not known which address they are, but how many there are.
    names = ["kafka-1", "kafka-2", "kafka-3"]
    unknown = [row | {"broker_id": None} for row in known]
    assert brokers_counted(tmp_path / "named", names, [*unknown, balancer]) == (3, 1)
    assert brokers_counted(tmp_path / "two of them", names, [*unknown[:2], balancer]) == (3, 1)
    # How many there are only a whole list says: FindCoordinator names one, and a reply that was cut some.
    assert brokers_counted(tmp_path / "one", names[:1], [*unknown, balancer], api=10) == (4, 1)
    cut = [row | {"broker_cut_bytes": 100} for row in unknown]
    assert brokers_counted(tmp_path / "cut", names[:1], [*cut, balancer]) == (4, 1)
    # One that was seen to carry on what clients also ask there is none.
    inner = connection(5, broker_address="10.0.1.2", forwarded_from=4, cluster="c")
    assert brokers_counted(tmp_path / "carried", names, [*unknown[:2], balancer, inner]) == (2, 1)


def test_brokers_that_are_reached_through_a_balancer_alone_count(tmp_path: Path) -> None:
    balancer = [connection(n, broker_address="10.0.9.9", cluster="c") for n in (1, 2, 3)]
    inner = [
        connection(3 + n, client_address="10.0.9.9", broker_address=f"10.0.1.{n}", forwarded_from=n, cluster="c")
        for n in (1, 2, 3)
    ]
    assert brokers_counted(tmp_path / "balancer", ["kafka-1", "kafka-2", "kafka-3"], balancer + inner) == (3, 1)
    # A second proxy on the way is none.
    second = connection(7, client_address="10.0.1.1", broker_address="10.0.2.1", forwarded_from=1, cluster="c")
    assert brokers_counted(tmp_path / "two", ["kafka-1"], [balancer[0], inner[0], second]) == (1, 1)


def test_what_answers_in_another_protocol_is_no_broker(tmp_path: Path) -> None:
    assert brokers_counted(tmp_path, [], [connection(1, broker_speaks="http")]) == (0, 0)


@pytest.mark.parametrize(
    ("pairs", "late_ms", "values", "found"),
    [
        *((3, 5, {}, True), (2, 5, {}, False)),
        # It connects late: both must end together and be alike.
        *((3, 8_000, {}, True), (3, 10_500, {}, False)),
        *(
            (3, 8_000, {"last_time_ns": START_NS + 2 * SECOND_NS}, False),
            (3, 8_000, {"client_stream_bytes": 17_000}, False),
        ),
    ],
)
def test_a_proxy_that_ends_tls_is_named(
    tmp_path: Path, pairs: int, late_ms: int, values: dict[str, Any], found: bool
) -> None:
    rows = []
    for n in range(pairs):
        begin = START_NS + n * SECOND_NS
        rows.append(
            connection(
                2 * n,
                protocol="tls",
                is_kafka=None,
                tls=True,
                tls_handshake="finished",
                broker_address="10.0.9.9",
                broker_port=9093,
                first_time_ns=begin,
                **{"client_stream_bytes": 5_000, "broker_stream_bytes": 13_000, "last_time_ns": begin + 20 * SECOND_NS}
                | values,
            )
        )
        times = {"first_time_ns": begin + late_ms * 1_000_000, "last_time_ns": begin + 20 * SECOND_NS + 1_000_000}
        rows.append(connection(2 * n + 1, client_address="10.0.9.9", requests=9, **times))
    # A client on another host asks the same broker plainly.
    rows.append(connection(100, requests=9))
    with dataset(tmp_path, {"connections": rows}) as made:
        between = made.metric("between")
    told = [(row["address"], row["port"], row["behind"], row["connections"]) for row in between]
    assert told == ([("10.0.9.9", 9093, "10.0.1.1:9092", 3)] if found else [])
    assert {row["sort"] for row in between} <= {"tls"}


def test_a_reply_that_is_cut_counts_as_failed_where_its_first_error_was_read(tmp_path: Path) -> None:
    """How many it has is not known, and that the others have none neither."""
    cut = {"response_decoded": "truncated", "error_count": None}
    rows = [exchange(1, error_code=32, **cut), exchange(2, error_code=None, **cut), exchange(3, error_code=0, **cut)]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}) as opened:
        for name in ("latency", "clients", "client_versions", "activity", "connections"):
            assert [row["errors"] for row in opened.metric(name)] == [1], name
        (whole,) = opened.ask("SELECT sum(errors) AS errors FROM totals")
    assert whole["errors"] == 1
