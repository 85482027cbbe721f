"""Messages newer than this kanalyze: every verb says which, and nothing that they could tell counts as none.

A client whose DeleteGroups is of a version that does not exist yet, beside one that only sends Heartbeat.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from made_capture import Conversation, merged, pcap

from analyzer.cli.main import main
from analyzer.query.readability import ASKS

NEWER = 90
NAMED = f"DeleteGroups v{NEWER}: 4 replies, 4 requests"
Ask = Callable[..., tuple[int, str, str]]


def _heartbeat(correlation: int) -> bytes:
    return b"\0\x0c\0\x01" + correlation.to_bytes(4, "big") + b"\0\x04calm\0\x01g\0\0\0\x03\0\x01m"


def _delete_groups(correlation: int) -> bytes:
    """Header v2, as every version from 2 on has it, and a body that no schema knows."""
    return b"\0\x2a" + NEWER.to_bytes(2, "big") + correlation.to_bytes(4, "big") + b"\0\x03new\0" + b"\x02\x02g\0\0"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> str:
    calm, new = Conversation().shake(), Conversation(client=0x0A000002, port=40_001).shake()
    for correlation in range(4):
        calm.exchange(_heartbeat(correlation), correlation.to_bytes(4, "big") + bytes(6))
        # A tagged header, then what nobody can read.
        new.exchange(_delete_groups(correlation), correlation.to_bytes(4, "big") + b"\0" + b"\xff" * 20)
    path: Path = tmp_path_factory.mktemp("newer") / "newer.pcap"
    path.write_bytes(pcap(merged([calm.close(), new.close()])))
    return str(path)


@pytest.fixture
def ask(capture: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setenv("COLUMNS", "120")

    def call(verb: str, *words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([verb, capture, *words])
        out, err = capsys.readouterr()
        return code, " ".join(out.split()), " ".join(err.split())

    return call


@pytest.mark.parametrize("verb", [*sorted(set(ASKS) - {"everything", "delivery", "partition", "show"}), "report"])
def test_every_verb_says_what_was_not_read(verb: str, ask: Ask) -> None:
    """First, with API, version and count; where the answer does not need it, `--strict` passes."""
    needs = {"brokers", "clients", "errors", "findings", "impact", "report", "throttle"}
    code, out, _ = ask(verb, "--strict")
    assert code == (3 if verb in needs else 0)
    begin = "Read in part: " if verb in needs else "Not read: "
    expected = NAMED.replace(", 4 requests", "") if verb in ("errors", "impact", "throttle") else NAMED
    assert out.startswith(begin) and f"({expected})" in out[:300], out


def test_nothing_is_claimed_of_what_was_not_read(ask: Ask) -> None:
    assert ask("errors", "--api", "DeleteGroups")[1].startswith("Error codes are not known: 4 message bodies")
    assert "No error codes" not in ask("errors", "--api", "DeleteGroups")[1]
    assert ask("errors", "--client", "calm", "--strict")[:2] == (0, "No error codes in this capture.")
    assert "Nothing found in what could be read" in ask("report")[1]
    assert "of Kafka bytes read" not in ask("report")[1]


def test_a_limit_on_what_was_not_read_is_not_measured(ask: Ask) -> None:
    assert ask("check", "--max-errors", "0")[0] == 3
    assert ask("check", "--no-high")[0] == 3
    assert ask("check", "--max-errors", "0", "--client", "calm")[0] == 0
    assert ask("check", "--max-p99", "1h")[0] == 0


def test_counts_of_a_client_whose_replies_were_not_read_are_not_known(ask: Ask) -> None:
    clients = {row["client_id"]: row for row in json.loads(ask("clients", "--format", "json")[1])}
    assert (clients["new"]["errors"], clients["new"]["throttled"], clients["new"]["unread_replies"]) == (None, None, 4)
    assert (clients["calm"]["errors"], clients["calm"]["throttled"], clients["calm"]["unread_replies"]) == (0, 0, 0)
    apis = {row["api_name"]: row for row in json.loads(ask("latency", "--format", "json")[1])}
    assert (apis["DeleteGroups"]["errors"], apis["Heartbeat"]["errors"]) == (None, 0)


def test_slots_of_time_and_metrics_know_no_more(capture: str) -> None:
    import analyzer

    with analyzer.read(capture) as cap:
        slots = {row["api_name"]: row for row in cap.metric("activity").to_arrow().to_pylist()}
    assert [slots["DeleteGroups"][name] for name in ("errors", "throttled", "unread_replies")] == [None, None, 4]
    assert [slots["Heartbeat"][name] for name in ("errors", "throttled", "unread_replies")] == [0, 0, 0]


def test_the_api_and_the_problems_say_it(capture: str) -> None:
    import analyzer

    with analyzer.read(capture) as cap:
        assert cap.readable["verdict"] == "partly" and cap.readable["reasons"] == ["newer"]
        kinds = {row["kind"]: row["count"] for row in cap.metric("problems").to_arrow().to_pylist()}
        assert kinds == {"newer_than_known": 4}
