"""What must be said of captures rebuilt from public threads, and what not: the table of their README, row by row.

Each row is asked of the whole answer: findings with their advice, the lines of "The capture", and counts. Skipped where the
captures are not beside the checkout; some are tested in more detail in `tests/system/truth/test_threads.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from paths import SHARED

import analyzer
from analyzer.report import between

FOLDER = SHARED / "captures" / "reports"
# Rules that are true of clients of Produce v0, which most of these captures have, and of no matter here.
OF_NO_MATTER = {"breaks_on_4", "already_failing", "no_compression", "tiny_batches"}


class Right(NamedTuple):
    """The rules that find something (medium and high), words that must be said, words that must not, counts of `coverage`."""

    rules: set[str]
    said: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    counts: dict[str, int] = {}  # noqa: RUF012


NO_LOGIN = ("without a login", "SASL")
TOO_LARGE = (
    "gives up in the middle of a reply of 21 MB",
    "its limit for the size of a reply is lower",
    "receive.message.max.bytes",
)
ROWS = {
    "dnat_any_idempotent": Right(
        set(),
        ("Address translation: 10.96.0.10:9092 is 10.244.2.9:9092 behind it", "counted once"),
        ("resends",),
        {"requests": 235, "brokers": 1, "clients": 2},
    ),
    "throttled_then_closed": Right({"throttle_escaped"}, ("is throttled by", "escapes by a new connection")),
    "reply_too_large_new_connections": Right(
        {"reply_given_up"},
        (*TOO_LARGE, "of blobs-0 from offset 777", "12 times"),
        NO_LOGIN,
        {"skipped_unfinished_bytes": 0, "gap_bytes": 0},
    ),
    "reply_too_large_long_lived": Right(
        {"reply_given_up"},
        (*TOO_LARGE, "of blobs-0 from offset 720", "13 times"),
        NO_LOGIN,
        {"skipped_unfinished_bytes": 0, "gap_bytes": 0},
    ),
    "stuck_at_offset": Right(
        {"no_progress"},
        ("makes no progress in compacted-0", "40 Fetches", "60,444,338", "8,182,936 records are still to be read"),
    ),
    "stuck_rereading": Right(
        {"no_progress"},
        ("makes no progress in behind-0", "200 Fetches", "only records before that offset", "306,114,681"),
    ),
    "broker_closed_idle": Right(
        {"closed_while_idle"},
        ("10.30.0.21:9092 closed", "after 10 min 0 s without traffic (connections.max.idle.ms", "6 min 26 s later"),
        ("dropped while idle",),
    ),
    "kafka_at_http": Right(
        {"not_kafka_there"}, ("10.30.0.80:80 answers in HTTP, not Kafka",), (), {"brokers": 0, "reply_lost": 0}
    ),
    "gssapi_handshake_v0": Right(set(), (), ("unanswered",), {"answered": 28, "last_tokens": 2}),
    "gssapi_without_handshake": Right(
        {"authentication_failures"},
        ("a Kerberos token without SaslHandshake before it, and the broker closes",),
        ("without a login",),
    ),
    "replies_out_of_order": Right(
        {"replies_out_of_order"}, ("out of order, 4 replies on 4 connections", "the client closed 4")
    ),
    "frame_cut_by_client": Right(
        {"broken_frames"},
        ("log_collector sends bytes", "its Produce of", "(packet 124) contains the beginning of another request"),
        ("protocol guide",),
    ),
    "proxy_health_check": Right(
        {"hung_up_at_once"}, (), ("another protocol",), {"health_checks": 5, "skipped_foreign_bytes": 0}
    ),
    "oauthbearer_expired": Right(
        {"authentication_failures"},
        ("the broker says invalid_token", "the token was valid until 2023-11-14"),
        ("sasl.password", "outdated password"),
    ),
    "second_half_held": Right(
        {"rest_held"}, ("40 times: the rest comes 270 ms (median) after the beginning, which had been acknowledged",)
    ),
    "connection_per_metadata": Right({"connection_storm"}, ("keeps opening connections: 100 connections",)),
    "reset_at_first_request": Right(
        {"hung_up_at_once"}, ("127.0.0.1:9092 resets", "after their first request", "10 times")
    ),
    "probes_without_content": Right(set(), (), (), {"silent_connections": 360, "requests": 900}),
    "other_protocols": Right(set(), (), (), {"kafka_connections": 0, "requests": 0}),
}


def said(capture: Any) -> str:
    findings = [f"{each.sentence} {each.do}" for each in capture.findings]
    return "\n".join(findings + between.sentences(capture.metric("between").to_pylist()))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_is_right(name: str) -> None:
    path = FOLDER / f"{name}.pcap.zst"
    if not path.exists():
        pytest.skip("not beside the checkout")
    right = ROWS[name]
    with analyzer.read(path) as capture:
        found = {each.name for each in capture.findings if each.severity != "info"} - OF_NO_MATTER
        text = said(capture)
        (coverage,) = capture.metric("coverage").to_pylist()
    assert found == right.rules
    assert [words for words in right.said if words not in text] == []
    assert [words for words in right.never if words in text] == []
    assert {each: coverage[each] for each in right.counts} == right.counts


def test_all_rows_of_the_readme_that_are_not_of_hardening_are_here() -> None:
    readme = FOLDER / "README.md"
    if not readme.exists():
        pytest.skip("not beside the checkout")
    named = {line.split("`")[1] for line in readme.read_text(encoding="utf-8").splitlines() if line.startswith("| `")}
    hardening = {"thirteen_exchanges", "names_that_act", "manifest_schema_text.json", "fetch_offset_min"}
    assert named - hardening == set(ROWS)


def test_batches_behind_a_translation_are_counted_once() -> None:
    path = FOLDER / "dnat_any_idempotent.pcap.zst"
    if not path.exists():
        pytest.skip("not beside the checkout")
    with analyzer.read(path) as capture:
        (batches,) = capture.sql("SELECT count(*) AS n FROM batches WHERE side = 'request'").to_pylist()
        assert batches["n"] == 200
        assert all(row["resent"] == 0 for row in capture.metric("resent").to_pylist())


def test_hosts_that_probe_are_listed_with_their_end() -> None:
    path = FOLDER / "probes_without_content.pcap.zst"
    if not path.exists():
        pytest.skip("not beside the checkout")
    with analyzer.read(path) as capture:
        rows = capture.metric("empty_connections").to_pylist()
    assert sum(row["connections"] for row in rows) == 360
    assert {(row["client_address"], row["close"]) for row in rows} == {("10.30.9.1", "rst"), ("10.30.9.2", "fin")}
