"""What could not be read comes first: each verb, each format, on captures of which something is missing; no verb is silent.

The captures are made by hand, so that it is known what is missing. What each verb needs for its answer is written down here.
"""

from __future__ import annotations

import csv
import json
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import in_turn, one_in
from kept_datasets import KeptDatasets
from made_capture import ACK, PSH, Conversation, Packet, pcap
from tls_tools import Ends, converse

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.cli.main import main, verbs
from analyzer.query.readability import readability
from analyzer.report.readability_words import sentence
from analyzer.run.local import open_dataset

# What a verb says when nothing answers its question, and without which messages that is so.
BOTH, REQUESTS = {"requests", "replies"}, {"requests"}
SUBJECTS: dict[str, tuple[str, set[str]]] = {
    "brokers": ("Traffic between brokers is not known", REQUESTS),
    "clients": ("Clients are not known", REQUESTS),
    "connections": ("Kafka connections are not known", set()),
    "diff": ("AFTER: Nothing could be read", set()),
    "dump": ("Nothing could be read", set()),
    "errors": ("Error codes are not known", BOTH),
    "exchanges": ("Nothing could be read", set()),
    "export": ("Nothing could be read", set()),
    "findings": ("Whether something is wrong is not known", REQUESTS),
    "groups": ("Groups are not known", REQUESTS),
    "impact": ("Impact is not known", BOTH),
    "latency": ("Latency is not known", BOTH),
    "profile": ("What clients waited for is not known", BOTH),
    "readiness": ("Whether the clients will work is not known", REQUESTS),
    "report": ("Nothing could be read", set()),
    "sql": ("Nothing could be read", set()),
    "throttle": ("Throttling is not known", BOTH),
    "topics": ("Topics are not known", REQUESTS),
    "transactions": ("Transactions are not known", REQUESTS),
    "unanswered": ("Unanswered requests are not known", BOTH),
    "zones": ("Bytes by zone are not known", REQUESTS),
}
# `check` has results of its own, `show` and `partition` are about one thing, `html` says it on its page; the others read no
# capture, or say it when the result is read, or on their screen.
APART = {
    *(
        "check",
        "show",
        "partition",
        "completion",
        "extract",
        "redact",
        "decode",
        "help",
        "html",
        "schema",
        "trace",
        "spark",
        "watch",
        "doctor",
    )
}
FORMATS = {
    "diff": ("table", "json", "jsonl", "csv", "html"),
    "dump": ("jsonl",),
    "export": ("jsonl", "csv"),
    "report": ("table", "json", "jsonl"),
}
WORDS = {"export": ("--table", "exchanges"), "sql": ("select * from exchanges",)}
# Case -> what is missing (without it nothing is known), words of the sentence, options.
CASES: dict[str, tuple[set[str], str, tuple[str, ...]]] = {
    "tls": (BOTH, "1 TLS connection to port 9092 was not decrypted (1 without keys: --tls-keylog FILE)", ()),
    "requests_only": ({"replies"}, "only requests were captured (capture both directions)", ()),
    "replies_only": ({"requests"}, "only replies were captured (capture both directions)", ()),
    "loss": (set(), "request or reply lost in 3 exchanges (5 %)", ()),
    "cut": (set(), "the capture is cut off before the end", ()),
    "limit": (set(), "a limit was reached (raise --max-frame)", ("--max-frame", "1000B")),
    "no_match": (BOTH, "No request matches client nobody", ("--client", "nobody")),
    "no_kafka": (BOTH, "no Kafka was found in 1 TCP connection", ()),
}
Captures = dict[str, Path]
Outcome = tuple[int, str, str]


def request(correlation: int, size: int = 10) -> bytes:
    """Heartbeat v1 of a group whose name makes it so long."""
    member = b"\0\0\0\x03\0\x01m"
    return (
        b"\0\x0c\0\x01"
        + correlation.to_bytes(4, "big")
        + b"\0\x04shop"
        + size.to_bytes(2, "big")
        + b"g" * size
        + member
    )


def conversation(count: int = 60, longest: int = 10) -> Conversation:
    made = Conversation().shake()
    for correlation in range(count):
        made.exchange(
            request(correlation, longest if correlation == 30 else 10), correlation.to_bytes(4, "big") + bytes(6)
        )
    return made.close()


def from_client(packet: Packet) -> bool:
    return packet[1][26:30] == bytes([10, 0, 0, 1])


def encrypted() -> Conversation:
    made = Conversation().shake()
    for side, data in converse(Ends(ssl.TLSVersion.TLSv1_3)).flights:
        for at in range(0, len(data), 1400):
            made.put(side, PSH | ACK, data[at : at + 1400])
    return made.close()


def web() -> Conversation:
    made = Conversation().shake()
    for _ in range(5):
        made.put(0, PSH | ACK, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").put(
            1, PSH | ACK, b"HTTP/1.1 204 No Content\r\n\r\n"
        )
    return made.close()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    whole = conversation().packets
    made = {
        "whole": whole,
        "tls": encrypted().packets,
        "requests_only": [packet for packet in whole if from_client(packet)],
        "replies_only": [packet for packet in whole if not from_client(packet)],
        # Replies number 9, 29 and 49 of 60.
        "loss": [packet for at, packet in enumerate(whole) if at not in (22, 62, 102)],
        "cut": whole,
        "limit": conversation(longest=2000).packets,
        "no_match": whole,
        "no_kafka": web().packets,
    }
    folder = tmp_path_factory.mktemp("readable")
    for name, packets in made.items():
        (folder / f"{name}.pcap").write_bytes(pcap(packets)[: -7 if name == "cut" else None])
        options = CASES[name][2] if name == "limit" else ()
        assert main(["export", str(folder / f"{name}.pcap"), "--to", str(folder / name), *options]) == 0
    return {name: folder / f"{name}.pcap" for name in made}


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


@pytest.fixture
def ask(
    captures: Captures, kept: KeptDatasets, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Runs a verb in this process: exit code, stdout, stderr. Tables are made of a capture, all else of its export."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(verb: str, case: str, form: str, *words: str) -> Outcome:
        capsys.readouterr()
        inputs = [str(captures["whole"])] * (verb == "diff") + [str(captures[case])]
        if form != "table":
            inputs = [name.removesuffix(".pcap") for name in inputs]
        forms = () if verb == "dump" else ("--format", form)
        with kept.used():
            code = main([verb, *inputs, *WORDS.get(verb, ()), *forms, *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def first(verb: str, case: str) -> str:
    """What the answer begins with."""
    missing, words, _ = CASES[case]
    subject, needed = SUBJECTS[verb]
    side = "AFTER: " if verb == "diff" else ""
    if case == "no_match":
        return f"{'BEFORE: ' if side else ''}{words}"
    if case == "tls":
        subject = subject.replace("Nothing could", "No Kafka could")
    nothing = missing == BOTH or needed & missing
    return f"{subject}: {words}" if nothing else f"{side}Read in part: {words}"


def assert_shape(out: str, form: str, verb: str) -> Any:
    """Programs read what they always read."""
    if form == "json":
        found = json.loads(out)
        assert isinstance(found, dict if verb in ("report", "diff") else list)
        return found
    if form == "jsonl":
        return [json.loads(line) for line in out.splitlines()]
    names, *rows = csv.reader(out.splitlines())
    assert all(len(row) == len(names) for row in rows) and not any(" " in name for name in names)
    return rows


def test_every_verb_is_here() -> None:
    assert set(SUBJECTS) | APART == set(verbs())


@pytest.mark.parametrize(("verb", "case"), in_turn(SUBJECTS, CASES, every=4))
def test_what_could_not_be_read_comes_first(verb: str, case: str, ask: Callable[..., Outcome]) -> None:
    """Of a quarter of the cases in one format, which is another one for each; with KANALYZE_LONG of all in all of them."""
    expected = first(verb, case)
    forms = FORMATS.get(verb, ("table", "json", "jsonl", "csv"))
    # Of the two numbers every fourth sum is asked.
    place, every = (list(CASES).index(case) + list(SUBJECTS).index(verb)) // 4, one_in(len(forms))
    for form in forms[place % every :: every]:
        strict = form in ("table", "jsonl")
        code, out, err = ask(verb, case, form, *CASES[case][2], *(("--strict",) if strict else ()))
        assert code == (3 if strict else 0), (form, err)
        beside = ("a limit was reached, so all results", "the file ends in the middle of a packet")
        warnings = [line for line in err.splitlines() if not any(words in line for words in beside)]
        if form == "table":
            assert " ".join(out.split()).startswith(expected), out
            assert warnings == [], form
            continue
        assert [line.startswith(f"kanalyze: {expected}") for line in warnings][:1] == [True], (form, err)
        assert len(warnings) == (2 if verb == "diff" and case == "no_match" else 1), (form, err)
        found = assert_shape(out, form, verb)
        if isinstance(found, dict):
            readable = found["readable"]["after"] if verb == "diff" else found["readable"]
            assert (
                readable["verdict"] != "whole" and expected.endswith(readable["sentence"][-20:].rstrip("."))
            ) or case == "loss"


@pytest.mark.parametrize("verb", SUBJECTS)
def test_nothing_is_said_when_all_could_be_read(verb: str, ask: Callable[..., Outcome]) -> None:
    forms = FORMATS.get(verb, ("table", "json", "jsonl", "csv"))
    every = min(one_in(2), len(forms))
    for form in forms[list(SUBJECTS).index(verb) % every :: every]:
        code, out, err = ask(verb, "whole", form, "--strict")
        assert (code, err) == (0, "")
        assert "Read in part" not in out and SUBJECTS[verb][0] not in out


CHECKS = ("--max-p99", "1h", "--max-errors", "0", "--no-high", "--max-throttled", "5%", "--max-unanswered", "0")


@pytest.mark.parametrize(("case", "form"), in_turn(CASES, ["table", "json", "jsonl"], every=2))
def test_check_passes_nothing_that_was_not_measured(case: str, form: str, ask: Callable[..., Outcome]) -> None:
    for words in (CHECKS, ("--max-errors", "0"), ("--broker-version", "4.4"))[:: one_in(1 if form == "table" else 3)]:
        assert case != "tls" or ask("check", "whole", form, *words)[0] == 0
        code, out, err = ask("check", case, form, *words, *CASES[case][2])
        assert code == 3
        said = out if form == "table" else err
        assert CASES[case][1].lower() in " ".join(said.split()).lower()
        if form != "table":
            found = [
                each
                for line in out.splitlines()
                for each in ([json.loads(line)] if form == "jsonl" else json.loads(line))
            ]
            assert not any(each["passed"] for each in found)
            assert all(each["not_measured"] for each in found)


def test_an_exchange_is_shown_whatever_else_is_missing(ask: Callable[..., Outcome]) -> None:
    code, out, err = ask("show", "loss", "table", "--strict", "#4")
    assert (code, err) == (0, "") and "Heartbeat" in out and "Read in part" not in out
    code, out, err = ask("show", "tls", "table", "#4")
    assert code == 2 and out.startswith("No Kafka could be read: 1 TLS connection")


def test_one_name_of_two_that_matches_nothing(ask: Callable[..., Outcome]) -> None:
    code, out, _ = ask("latency", "whole", "table", "--client", "shop", "--client", "nobody", "--strict")
    assert code == 3 and out.startswith("Read in part: no request matches client nobody.\nLatency")
    assert ask("latency", "whole", "table", "--client", "shop", "--client", "10.0.0.1", "--strict")[0] == 0


def test_a_group_that_is_not_there(ask: Callable[..., Outcome]) -> None:
    there = "g" * 10
    code, out, _ = ask("groups", "whole", "table", "--group", there, "--group", "no?e", "--strict")
    assert code == 3 and out.startswith("No request names group no?e.\n")
    code, out, err = ask("groups", "whole", "json", "--group", "none", "--strict")
    assert (code, json.loads(out), err) == (3, [], "kanalyze: No request names group none.\n")
    assert ask("groups", "whole", "table", "--group", there, "--strict")[0] == 0


def test_one_direction_gives_no_false_findings(ask: Callable[..., Outcome]) -> None:
    """Requests without a reply in the capture are neither unanswered nor abandoned."""
    for case in ("requests_only", "replies_only"):
        assert ask("findings", case, "jsonl")[1] == ""
        report = ask("report", case, "table")[1]
        assert "100 %" not in report and "no error beyond" not in report
    rows = [json.loads(line) for line in ask("exchanges", "requests_only", "jsonl")[1].splitlines()]
    assert {row["status"] for row in rows} == {"reply_lost"}
    (client,) = (json.loads(line) for line in ask("clients", "requests_only", "jsonl")[1].splitlines())
    assert client["request_bytes"] > 0 and client["response_bytes"] is None
    assert "received not known" in ask("clients", "requests_only", "table")[1]
    (client,) = (json.loads(line) for line in ask("clients", "whole", "jsonl")[1].splitlines())
    assert client["response_bytes"] > 0


def test_a_cut_end_matters_only_to_questions_that_reach_it(captures: Captures, tmp_path: Path) -> None:
    """With --to before it nothing is missing; where there is no Kafka at all it is said beside that."""
    with open_dataset([str(captures["cut"])], Options()) as dataset:
        (times,) = dataset.query("SELECT last_time_ns FROM all_captures")
    for to_ns, kinds in ((None, ["cut"]), (times["last_time_ns"], []), (times["last_time_ns"] + 1, ["cut"])):
        with open_dataset([str(captures["cut"])], Options(filters=Filters(to_ns=to_ns))) as dataset:
            assert [reason.kind for reason in readability(dataset).reasons] == kinds, to_ns
    other = tmp_path / "web.pcap"
    other.write_bytes(pcap(web().packets)[:-7])
    with open_dataset([str(other)], Options()) as dataset:
        assert sentence(readability(dataset)).endswith("; the capture is cut off before the end.")
