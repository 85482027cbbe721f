"""A run in windows is the run as a whole: whatever leaves, the sums are those of a report over all of the capture."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from effort import also_long
from paths import SAMPLES

from analyzer.base import retyped_inputs
from analyzer.base.options import Options
from analyzer.inputs.live import feeds
from analyzer.inputs.sources import Source
from analyzer.run import local, raw_views
from analyzer.watch import live_session
from analyzer.watch.answers import Answer
from analyzer.watch.live_session import Session

OPTIONS = Options(seldom=False)
SECOND = 1_000_000_000
# What the totals of these metrics promise, by their keys.
PROMISED = {
    "latency": (
        ("api_name", "kind"),
        ("count", "answered", "p50_ns", "p90_ns", "p99_ns", "max_ns", "errors", "throttled"),
    ),
    "errors": (
        ("code", "api_name", "topic", "client_id", "client_address"),
        ("count", "exchanges", "first_time_ns", "last_time_ns"),
    ),
    "throttle": (
        ("client_address", "client_id", "api_name"),
        ("throttled", "refused", "throttle_time_ms", "max_throttle_time_ms"),
    ),
}
COVERED = ("requests", "answered", "pending", "closed", "abandoned", "reply_lost", "request_bytes", "response_bytes",
           "connections", "kafka_connections", "kafka_bytes", "framed_bytes", "gaps", "gap_bytes")  # fmt: skip
IDENTITIES = (
    "SELECT connection, client_address, role, software_name, software_version, principal, cluster, broker_id "
    "FROM all_connections WHERE is_kafka"
)


@pytest.fixture(autouse=True)
def one_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other writer comes."""
    monkeypatch.setattr(feeds, "WRITER_S", 0)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("captures")

    def unpacked(name: str) -> Path:
        path = folder / f"{name}.pcap"
        if not path.exists():
            path.write_bytes(b"".join(Source(name, SAMPLES / f"{name}.pcap.zst").blocks()))
        return path

    return unpacked


@contextmanager
def watched(
    path: Path,
    folder: Path,
    span_ns: int,
    windows: int,
    options: Options = OPTIONS,
    behind: Callable[[], object] = lambda: None,
) -> Iterator[tuple[Session, list[Answer]]]:
    """A session over a pipe in which the capture comes in so many pieces, each read and looked at before the next one; `behind` is
    called after each look."""
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    data = path.read_bytes()
    # In the first piece no exchange ends.
    ends = [210, *(len(data) * number // windows for number in range(1, windows + 1))]
    answers: list[Answer] = []
    session = Session([str(fifo)], options, span_ns, 0.05, 1 << 30)

    def take(answer: Answer) -> None:
        behind()
        answers.append(answer)

    session.on_answer = take

    def write() -> None:
        with fifo.open("wb", buffering=0) as pipe:
            for number, (begin, end) in enumerate(pairwise([0, *ends])):
                pipe.write(data[begin:end])
                while len(answers) <= number and not session.is_over and number < windows:
                    sleep(0.01)

    threading.Thread(target=write, daemon=True).start()
    try:
        while not session.wait(0.05):
            pass
        yield session, answers
    finally:
        session.close()


def by_key(rows: list[dict[str, Any]], metric: str) -> Counter[tuple[Any, ...]]:
    keys, values = PROMISED[metric]
    return Counter((*(row[key] for key in keys), *(row[value] for value in values)) for row in rows)


@pytest.mark.parametrize(
    ("name", "windows", "is_large"),
    also_long(
        [("throttle", 4, True)], [("throttle", 4, False), ("groups_classic", 4, True), ("groups_classic", 4, False)]
    ),
)
def test_the_last_report_is_that_over_the_whole(
    capture: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    windows: int,
    is_large: bool,
) -> None:
    """And what is said once, when a connection begins, is carried on when that window has left. Of many exchanges all that is asked
    is computed once, and of many connections held in a file."""
    monkeypatch.setattr(live_session, "REST", 0)
    if is_large:
        monkeypatch.setattr(raw_views, "is_small", lambda *_: False)
        monkeypatch.setattr(raw_views, "MOST_HELD_CONNECTIONS", 1)
    path = capture(name)
    with (
        watched(path, tmp_path, SECOND, windows) as (session, answers),
        local.open_dataset([str(path)], OPTIONS) as whole,
    ):
        assert len(answers) >= windows and answers[0].run["answered"] == 0
        assert not session._analyst.windows.is_whole, "no window has left: this test shows nothing"
        with session.facts() as facts:
            for metric in PROMISED:
                assert by_key(facts.rows(metric), metric) == by_key(whole.metric(metric), metric), metric
            covered, expected = facts.coverage(), whole.metric("coverage")[0]
            assert {key: covered[key] for key in COVERED} == {key: expected[key] for key in COVERED}
        assert answers[-1].run["requests"] == expected["requests"]
        # Findings of windows that have left stay in the log.
        assert session.pulse.requests <= expected["requests"]
        known = {row["connection"]: row for row in whole.query(IDENTITIES)}
        with session._analyst.windows.dataset() as last:
            found = last.query(IDENTITIES)
            # Not by `query`, which makes all tables when it is asked about tables.
            places = last.connection().execute("SELECT database_name FROM duckdb_tables() WHERE table_name = 'parts'")
            assert places.fetchall() == [("held" if is_large else "memory",)]
            assert found and all(row == known[row["connection"]] for row in found)


def test_while_nothing_leaves_all_is_as_in_a_report(
    capture: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    from analyzer.report.facts import Facts
    from analyzer.report.terminal import print_report

    monkeypatch.setattr(live_session, "REST", 0)
    path = capture("groups_848")
    (tmp_path / "names").write_text("address\thost\n127.0.0.1\tkafka-of-the-shop\n")
    options = replace(OPTIONS, names=(tmp_path / "names",))

    def printed(facts: Facts) -> list[str]:
        console = Console(width=200)
        with console.capture() as text:
            print_report(facts, console)
        # Pipe and file have different names.
        return [line.replace(str(path), str(tmp_path / "fifo")) for line in text.get().splitlines()][1:]

    with (
        watched(path, tmp_path, 3600 * SECOND, 2, options) as (session, _),
        local.open_dataset([str(path)], options) as whole,
    ):
        with session.facts() as facts:
            whole.captures = retyped_inputs.arguments([str(tmp_path / "fifo")], options)
            found = printed(facts)
        assert found == printed(Facts(whole)) and any("kafka-of-the-shop" in line for line in found)


def test_a_list_of_names_that_changes_is_read_again(
    capture: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_session, "REST", 0)
    names = tmp_path / "names"
    names.write_text("address\thost\n127.0.0.1\told\n")

    def renamed() -> None:
        names.write_text("address\thost\n127.0.0.1\tnew\n")

    options = replace(OPTIONS, names=(names,))
    with (
        watched(capture("groups_848"), tmp_path, 3600 * SECOND, 3, options, renamed) as (session, _),
        session._analyst.windows.dataset() as last,
    ):
        assert last.query("SELECT DISTINCT client_host AS host FROM connections") == [{"host": "new"}]
