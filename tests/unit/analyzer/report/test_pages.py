"""The pages of the verbs: fit every width, show no control character, answer first, never praise an empty selection."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import stories
from kept_datasets import remembering
from made_rows import START_NS, connection, dataset, error, exchange
from rich.cells import cell_len
from rich.console import Console

from analyzer.base.filters import Filters
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.query.readability import readability
from analyzer.report.facts import facts_of_report
from analyzer.report.readability_words import sentence
from analyzer.report.terminal import print_report, print_section

PAGES = ("latency", "profile", "throttle", "errors", "clients", "connections", "brokers")
MS = 1_000_000


def printed(found: Dataset, name: str, width: int) -> str:
    sink = io.StringIO()
    print_section(found, name, Console(file=sink, width=width))
    return sink.getvalue()


def verb(name: str) -> Any:
    return import_module(f"analyzer.cli.commands.{name}").command


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """A story in which every string that a capture may hold is hostile, with throttling, followers and failed logins."""
    bad = stories.BAD
    names = {"client_id": bad, "client_address": bad, "broker_address": bad, "principal": bad, "group_id": None}
    rows = [
        exchange(
            n,
            at_ns=START_NS + n * MS,
            latency_ns=200 * MS,
            api_name=bad,
            throttle_time_ms=9,
            error_count=1,
            connection=n % 3,
            **names,
        )
        for n in range(60)
    ]
    rows += [
        exchange(n, role="follower", kind="fetch_follower", max_wait_ms=1, replica_id=3, **names) for n in range(60, 70)
    ]
    rows += [exchange(70, role="controller", api_name=bad, **names), exchange(71, role=bad, **names)]
    address = {"client_address": bad, "broker_address": bad, "principal": bad, "claimed_user": bad}
    software = {"software_name": bad, "software_version": bad, "sasl_mechanism": bad, "security": bad}
    links = [connection(n, rtt_ns=9 * MS, syn_ack_ns=1, ack_ns=9 * MS, **address, **software) for n in range(3)]
    quiet = {"is_kafka": None, "client_stream_bytes": 0, "broker_stream_bytes": 0, "close": "rst", "syn_ack_ns": None}
    links += [connection(9, **quiet, **address)]
    mutes = [
        {
            "exchange": n,
            "connection": n % 3,
            "begin_ns": rows[n]["response_time_ns"],
            "end_ns": rows[n]["response_time_ns"] + 9 * MS,
            "throttle_time_ms": 9,
            "applies": [True, None, False][n % 3],
            "held_ns": 5,
            "sent_inside": 1,
            "resumed_ns": 7,
        }
        for n in range(60)
    ]
    tables: dict[str, Any] = {"exchanges": rows, "connections": links, "mutes": mutes}
    tables["captures"] = [stories.capture(path=f"/x/{bad}.pcap")]
    tables["errors"] = [
        error(n, 1, topic=bad, name=bad, entity=bad, retriable=n % 2 == 0, expected=False) for n in range(72)
    ]
    tables["entries"] = [{"exchange": n, "connection": 1, "side": "request", "topic": bad} for n in range(60)]
    tables["logins"] = [{"exchange": 1, "connection": 1, "outcome": "failed", "sasl_mechanism": bad}]
    with dataset(tmp_path_factory.mktemp("hostile"), tables) as found:
        yield remembering(found)


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("name", PAGES)
def test_hostile_strings_neither_break_lines_nor_reach_the_terminal(hostile: Dataset, name: str, width: int) -> None:
    choices = next((option.type.choices for option in verb(name).params if option.name == "by"), ())
    asked = [(), *((each,) for each in choices), tuple(choices[:3])]
    for by in asked:
        for every_ns in (None, 10 * MS):
            hostile.choose(Settings(by, every_ns))
            text = printed(hostile, name, width)
            assert len(text.splitlines()) > 1, (name, by)
            for line in text.splitlines():
                assert cell_len(line) <= width
                assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Cf", "Zl", "Zp") for letter in line)
    hostile.choose(Settings())


@pytest.mark.parametrize("name", PAGES)
def test_an_empty_selection_is_never_a_clean_bill_of_health(tmp_path: Path, name: str) -> None:
    tables = {"exchanges": [exchange(1)], "connections": [connection(1)], "errors": [error(1, 3)]}
    with dataset(tmp_path, tables, filters=Filters(clients=("nosuch",), to_ns=5)) as found:
        text = printed(found, name, 80)
        assert (
            sentence(readability(found, name)) == "No request matches client nosuch, time to 1970-01-01 00:00:00 UTC."
        )
        assert "Clients in the capture: app." in text
        assert "The capture covers" in text
        sink = io.StringIO()
        with facts_of_report(found) as facts:
            print_report(facts, Console(file=sink, width=80))
    assert "Clients in the capture: app." in sink.getvalue()
    assert "Nothing found in what could be read" not in sink.getvalue()


def test_the_latency_page_answers_client_network_or_broker(tmp_path: Path) -> None:
    slow = {"service_ns": 180 * MS, "queue_ns": 20 * MS, "muted_ns": 0, "send_ns": 0, "receive_ns": 0}
    rows = [exchange(n, latency_ns=200 * MS, api_name="Produce", **slow) for n in range(40)]
    rows += [exchange(n, latency_ns=MS) for n in range(40, 90)]
    with dataset(
        tmp_path, {"exchanges": rows, "connections": [connection(1, rtt_ns=MS, syn_ack_ns=1, ack_ns=MS)]}
    ) as found:
        text = printed(found, "latency", 120)
    lines = text.splitlines()
    (answer,) = [line for line in lines if "the broker's own time" in line]
    assert "Produce" in answer and "200 ms" in answer and "broker 90 %, queue 10 %" in answer
    assert "on the brokers' side, so latencies do not include it" in " ".join(text.split())
    assert "(kanalyze show CAPTURE 0000000000000000)" in text
    assert sum("broker 90 %" in line for line in lines) == 12  # the table, the answer, the ten slowest


def test_without_a_slow_api_the_page_says_so(tmp_path: Path) -> None:
    with dataset(tmp_path, {"exchanges": [exchange(1, latency_ns=MS)]}) as found:
        assert "No API is slow: every p99 is below 50 ms." in printed(found, "latency", 120)


def test_two_meanings_of_a_sum_are_told_apart(hostile: Dataset) -> None:
    hostile.choose(Settings())
    text = " ".join(printed(hostile, "throttle", 120).split())
    assert "it may exceed the elapsed time" in text
    assert "the broker read nothing from the client's worst connection" in text
    assert "2.0 or newer is assumed" in text


def test_rows_of_a_broker_that_may_wait_by_design_are_told_apart(tmp_path: Path) -> None:
    """Where no column names the kind of request, two rows of one broker would look alike."""
    rows = [exchange(1, api_name="Produce", kind="produce_acks_all"), exchange(2, api_name="Fetch", kind="fetch_now")]
    with dataset(tmp_path, {"connections": [connection(1)], "exchanges": rows}) as found:
        found.choose(Settings(("broker",)))
        assert printed(found, "latency", 120).count(", may wait ") == 1
        found.choose(Settings(("broker", "api")))
        assert ", may wait " not in printed(found, "latency", 120)


def test_errors_are_summed_over_clients_and_say_whose_right_is_missing(tmp_path: Path) -> None:
    base = {"api_name": "Heartbeat", "group_id": "billing", "principal": "User:till"}
    rows = [exchange(n, client_id=f"till-{n % 3}", error_count=1, **base) for n in range(6)]
    errors = [error(n, 30, name="GROUP_AUTHORIZATION_FAILED", retriable=False, expected=False) for n in range(6)]
    with dataset(tmp_path, {"exchanges": rows, "errors": errors, "connections": [connection(1)]}) as found:
        text = printed(found, "errors", 120)
    assert "Heartbeat, 30 GROUP_AUTHORIZATION_FAILED: 6 times in all, 3 clients." in text
    assert "till-0 is logged in as User:till." in text
    assert text.count("  billing  ") == 3


@pytest.mark.parametrize(
    ("alert", "words"),
    [("unknown_ca", "TLS alert unknown_ca of the client"), ("encrypted", "an encrypted TLS alert of the client")],
)
def test_an_alert_whose_name_was_not_seen_is_no_name(tmp_path: Path, alert: str, words: str) -> None:
    rows = [connection(1, tls_alert=alert, tls_alert_from="client")]
    with dataset(tmp_path, {"exchanges": [exchange(1)], "connections": rows}) as found:
        assert words in printed(found, "connections", 300)


@pytest.mark.parametrize("width", [76, 80, 84, 90, 120])
def test_first_bytes_are_whole(tmp_path: Path, width: int) -> None:
    other = {"is_kafka": False, "protocol": "other"}
    links = [
        connection(1, client_begin="0000002c", broker_begin="45000000", **other),
        connection(2, client_begin="414d5150", broker_begin="5353482d", broker_port=5672, **other),
    ]
    with dataset(tmp_path, {"connections": links}) as found:
        text = printed(found, "connections", width)
    values = ("0000002c", "45000000", "AMQP", "SSH-")
    assert [value for value in values if value not in text] == []
