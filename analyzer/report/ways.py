"""What stands out between clients and brokers: dead lines, full links, loss, wrong protocols; failed handshakes; other clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzer.query.run_findings import in_brackets
from analyzer.report.causes import Table
from analyzer.report.format import NONE, bits_per_second, count, duration, moment, safe, share, size, things
from analyzer.report.text_tables import Column


def _hosts(row: dict[str, Any]) -> str:
    more = f" and {things(row['others'], 'other')}" if row["others"] else ""
    return safe(row["from_address"]) + more


def _ended(row: dict[str, Any]) -> str:
    """client: alert unknown_ca"""
    if row["ended_by"] is None:
        return "broker closed without a reply" if row["silent"] else NONE
    alert = "an encrypted alert" if row["alert"] is None else f"alert {safe(row['alert'])}"
    return f"{row['ended_by']}: {alert}"


def _certificate(row: dict[str, Any]) -> str:
    if not row["certificate"]:
        return ""
    broker, name = safe(in_brackets(row["broker"])), safe(row["certificate"])
    return f"The certificate of {broker}, {name}, is valid until {moment(row['valid_until_ns'])} UTC."


def _failures(row: dict[str, Any]) -> str:
    return count(row["failures"]) + (f" {safe(row['error'])}" if row["error"] else "")


def _broker(row: dict[str, Any]) -> str:
    """With its port, but where the way is that of all ports."""
    if row["broker"] is None or row["what"] == "loss":
        return safe(row["broker"])
    return safe(in_brackets(row["broker"]))


def _dead(row: dict[str, Any]) -> str:
    least = f"{duration(row['least_ns'])} to " if row["least_ns"] is not None else "at most "
    text = f"no packet got through for {least}{duration(row['waited_ns'])}, {things(row['times'], 'time')}"
    others = row["others"]
    return text + (f"; {things(others, 'other host was', 'other hosts were')} answered" if others else "")


def _full(row: dict[str, Any]) -> str:
    text = f"link {safe(row['place'])} full {row['part']}"
    if row["share"] is not None:
        return (
            f"{text}: half of the packets queued for {duration(row['queued_ns'])} and more, {share(row['share'])} lost"
        )
    text += f": {bits_per_second(row['bits_per_s'])} for {duration(row['waited_ns'])}, by {safe(row['who'])}"
    text += f" and {things(row['others'], 'other client')}" if row["others"] else ""
    return text + (f"; queued for up to {duration(row['queued_ns'])}" if row["queued_ns"] is not None else "")


def _unscaled(row: dict[str, Any]) -> str:
    text = f"no window scaling: at most {size(row['bytes'])} in flight"
    if row["waited_ns"] is not None:
        text += f", {row['part']} waited {duration(row['waited_ns'])} for that window"
    if row["times"] is not None:
        text += f", {things(row['times'], 'message')} of 200 kB and more took a round trip per 64 kB"
    others = row["others"]
    return text + (f"; {things(others, 'other connection')} to this broker with scaling" if others else "")


def _small_window(row: dict[str, Any]) -> str:
    text = f"small receive buffer: at most {size(row['bytes'])} in flight, RTT {duration(row['rtt_ns'])}"
    return f"{text}; {safe(in_brackets(row['part']))} waited {duration(row['waited_ns'])} for room"


def _held(row: dict[str, Any]) -> str:
    return f"{things(row['times'], 'piece')} of messages of {row['part']} waited 40 ms each for a delayed ACK"


def _oversized(row: dict[str, Any]) -> str:
    times = things(row["times"], "connection")
    return f"{times} closed by the broker within requests of {size(row['bytes'])} of {safe(row['who'])}"


def _protocol(row: dict[str, Any]) -> str:
    return f"{things(row['times'], 'connection')} of {row['part']}, which failed: the port {row['place']}"


def _large(row: dict[str, Any]) -> str:
    lost, smaller = f"{size(row['bytes'])} and more", size(row["answered_bytes"])
    if row["part"] == "broker":
        replies = things(row["times"], "reply", "replies")
        text = f"{replies} of {lost} to {safe(row['who'])} did not arrive, sent again and again; those of up to"
        return f"{text} {smaller} did: large packets are lost"
    text = f"{things(row['times'], 'request')} of {lost} of {safe(row['who'])} had no answer, sent again and again; those of up to"
    return f"{text} {smaller} had one: large packets are lost"


def _idle_closed(row: dict[str, Any]) -> str:
    times = things(row["times"], "connection")
    text = f"{times} closed by the broker after {duration(row['least_ns'])} without traffic (connections.max.idle.ms)"
    return f"{text}, and used by {safe(row['who'])} {duration(row['waited_ns'])} later"


def _hung_up(row: dict[str, Any]) -> str:
    text = f"{row['part']} at the first request of {safe(row['who'])} ({safe(row['place'])}), {duration(row['waited_ns'])} after it"
    return f"{text}, {things(row['times'], 'time')}"


def _rest(row: dict[str, Any]) -> str:
    requests = things(row["times"], "request")
    return f"{requests} of {safe(row['who'])} whose rest left {duration(row['waited_ns'])} after the beginning (median)"


def _answer(row: dict[str, Any]) -> str:
    return f"{things(row['times'], 'connection')} of {safe(row['who'])} answered in {row['part']}, not Kafka"


def _loss(row: dict[str, Any]) -> str:
    rate = f" ({share(row['share'])})" if row["share"] is not None else ""
    text = f"{count(row['times'])} of {count(row['packets'])} packets lost{rate} {safe(row['place'])}"
    text += f", to and from {things(row['others'], 'host')}" if row["others"] else ""
    return text + (f"; {share(row['felt_share'])} of the slowest requests" if row["felt_share"] is not None else "")


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "answer": _answer,
    "dead": _dead,
    "full": _full,
    "unscaled": _unscaled,
    "small_window": _small_window,
    "held": _held,
    "large": _large,
    "hung_up": _hung_up,
    "idle_closed": _idle_closed,
    "loss": _loss,
    "oversized": _oversized,
    "protocol": _protocol,
    "rest": _rest,
}
# A dash means several clients or brokers.
WAYS = Table(
    "ways_of_note",
    "What stands out between clients and brokers",
    (
        (Column("from", least=14), lambda row: safe(row["client_address"])),
        (Column("to", least=14), _broker),
        (Column("what stands out", least=40), lambda row: _WORDS[row["what"]](row)),
    ),
)
HANDSHAKES = Table(
    "tls_failures",
    "TLS handshakes that failed",
    (
        (Column("from", least=14), _hosts),
        (Column("to", least=14), lambda row: safe(in_brackets(row["broker"]))),
        (Column("times", right=True), lambda row: count(row["times"])),
        (Column("ended by", least=20), _ended),
    ),
    remark=_certificate,
)
CLUSTERS = Table(
    "clusters_reached",
    "Addresses that lead elsewhere than clients mean",
    (
        (Column("what leads where", least=24), lambda row: safe(row["turned"])),
        (Column("refused", right=True), lambda row: count(row["refusals"])),
        (Column("went on", right=True), lambda row: count(row["went_on"])),
        (Column("within", right=True), lambda row: duration(row["slowest_ns"])),
        (Column("gave up", least=8), lambda row: safe(row["lost"])),
        (Column("asking", right=True, spare=1), lambda row: count(row["asking"])),
        (Column("failed there", least=12), _failures),
    ),
    "refused: with REBOOTSTRAP_REQUIRED. within: the slowest of those that went on.",
)
