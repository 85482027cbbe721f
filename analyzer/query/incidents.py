"""One incident, one finding: findings that others explain become their symptoms, the cause first.

A rule names the rules that it explains (`-- explains:`, see `analyzer.query.findings`). One of its findings is the cause of one
of theirs when both are about the same (SUBJECTS: at least one column that both have is equal, and none differs) and their times
touch; with a star behind the rule's name when their times touch and the cause is no milder: a broker that is gone is felt
everywhere. What is known to be of another cluster is never explained. Where a rule explains only some APIs or errors of another
(in parentheses), another error of the same client at the same time is an incident of its own. An incident is as severe as its
cause says, which knows what was lost, for whom and for how long.

Rules of the last ranks (from LAST_RANK on) tell impact that no rule explains, above the limits of
`analyzer.base.impact_limits`: their findings are symptoms of any other finding about the same, unless that one is for information,
or its rule says that it delays nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from analyzer.base.retyped_inputs import PLACEHOLDER
from analyzer.base.text import exchange_id
from analyzer.query.findings import SEVERITIES, Explained, Rule

# Columns of a rule that say what a finding is about, under the same name in all rules.
SUBJECTS = ("who", "client_address", "broker", "topic", "partition", "group_id", "connection")
# The host of a broker, of rules that may be about all its ports: where both findings name it, it is compared instead of `broker`.
HOST = "host"
# Rules of this rank and later ones know no cause.
LAST_RANK = 95
# A symptom may begin so long before what is seen of its cause, or after it: clients retry, sessions run out.
SLACK_NS = 15_000_000_000


@dataclass(frozen=True, slots=True)
class Evidence:
    """An exchange to look at: where its request (of a reply without one, the reply) begins.

    `path` is the input, `packet` the number that Wireshark shows there; both are None when they are not known.
    """

    exchange: int
    path: str | None
    packet: int | None

    def __repr__(self) -> str:
        """The exchange as `kanalyze show` takes it."""
        return f"Evidence(exchange='{exchange_id(self.exchange)}', path={self.path!r}, packet={self.packet})"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that needs attention: a rule and the row that it found.

    `row` holds the rule's columns as its SQL gives them; `evidence` the exchanges that it names, without repetition;
    `symptoms` the findings that this one explains, the worst first. `running`: it went on until the end of the time that was
    looked at (see `is_running`); None: its time is not known. `lingers`: it ended itself, and what it explains went on.
    `captures`: what a person types to name the captures. `cluster`: that of its evidence, or of its connection; None: not known,
    or of several, as where a client asks in several.
    """

    rule: Rule
    severity: str
    row: dict[str, Any]
    evidence: tuple[Evidence, ...]
    symptoms: tuple[Finding, ...] = ()
    running: bool | None = None
    lingers: bool = False
    captures: str = PLACEHOLDER
    cluster: str | None = None

    def order(self) -> tuple[int, int, str, int]:
        """The key by which findings are sorted, the worst first."""
        return (SEVERITIES.index(self.severity), self.rule.rank, self.rule.name, -self.row["weight"])


def is_running(row: dict[str, Any], first_ns: int | None, last_ns: int | None) -> bool | None:
    """Whether what a row found went on until the end. A rule may know that it did not (`is_over`). It did not when its last sign
    lies before the last twentieth of the time from `first_ns` to `last_ns`, before its last second, or more than 30 s before the
    end; it did when what followed is no longer than a quarter of its own time, or a second. None: between the two, for a stall
    of 10 s may have ended 5 s before the end of an hour; its times or these are not known; or it happened once."""
    if row.get("is_over"):
        return False
    began, ended = row.get("first_time_ns"), row.get("last_time_ns")
    if began == ended or ended is None or first_ns is None or last_ns is None:
        return None
    slack = min(max((last_ns - first_ns) // 20, 1_000_000_000), 30_000_000_000)
    silence = last_ns - ended
    if silence > slack:
        return False
    return True if silence <= max((ended - began) // 4, 1_000_000_000) else None


def grouped(found: Sequence[Finding]) -> list[Finding]:
    """The findings without those that others explain, which become symptoms of their causes; the worst first.

    A finding that several explain belongs to the first of them by rank. What a symptom explains belongs to its cause too.
    """
    ordered = sorted(found, key=lambda each: (each.rule.rank, *each.order()))
    explainers: dict[str, list[int]] = {}
    for number, each in enumerate(ordered):
        for explained in each.rule.explains:
            explainers.setdefault(explained.rule, []).append(number)
    cause_of: dict[int, int] = {}
    known = [number for number, each in enumerate(ordered) if _knows_a_cause(each)]
    for number, each in enumerate(ordered):
        others = explainers.get(each.rule.name, [])
        causes: Iterator[int] = (other for other in others if _explains(ordered[other], each))
        if each.rule.rank >= LAST_RANK:
            causes = chain(causes, (other for other in known if _could_explain(ordered[other], each)))
        # A cause that is itself explained by this finding explains nothing: the next one may.
        if (cause := next((other for other in causes if _root(other, cause_of) != number), None)) is not None:
            cause_of[number] = cause
    symptoms: dict[int, list[Finding]] = {}
    for number in cause_of:
        symptoms.setdefault(_root(number, cause_of), []).append(ordered[number])
    incidents = [_incident(each, symptoms.get(n, ())) for n, each in enumerate(ordered) if n not in cause_of]
    return sorted(incidents, key=Finding.order)


def _root(number: int, cause_of: dict[int, int]) -> int:
    while number in cause_of:
        number = cause_of[number]
    return number


def _incident(cause: Finding, symptoms: Sequence[Finding]) -> Finding:
    """The cause with its symptoms; what one of them still shows is not over, and what one of them may show may not be."""
    found = (cause, *symptoms)
    known = [each.running for each in found if each.running is not None]
    goes_on = any(known)
    over = bool(known) and not any(map(_may_go_on, found))
    return replace(
        cause,
        symptoms=tuple(sorted(symptoms, key=Finding.order)),
        running=True if goes_on else False if over else None,
        lingers=cause.running is False and goes_on,
    )


def _may_go_on(finding: Finding) -> bool:
    """Whether it lasted, and `is_running` cannot tell if it ended."""
    return finding.running is None and finding.row.get("first_time_ns") != finding.row.get("last_time_ns")


def _explains(cause: Finding, symptom: Finding) -> bool:
    # What did no harm itself is not what harmed others elsewhere.
    milder = SEVERITIES.index(cause.severity) > SEVERITIES.index(symptom.severity)
    return _may_touch(cause, symptom) and any(
        _has_word(explained, symptom.row)
        and ((explained.anywhere and not milder) or _about_the_same(cause.row, symptom.row))
        for explained in cause.rule.explains
        if explained.rule == symptom.rule.name
    )


def _knows_a_cause(finding: Finding) -> bool:
    is_harmless = finding.severity == SEVERITIES[-1] or finding.rule.delays_nobody
    return finding.rule.rank < LAST_RANK and not is_harmless


def _could_explain(cause: Finding, impact: Finding) -> bool:
    return _may_touch(cause, impact) and _about_the_same(cause.row, impact.row)


def _has_word(explained: Explained, row: dict[str, Any]) -> bool:
    return not explained.words or row.get("api_name") in explained.words or row.get("name") in explained.words


def _about_the_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    shared = [name for name in (HOST, *SUBJECTS) if one.get(name) is not None and other.get(name) is not None]
    if HOST in shared and "broker" in shared:
        shared.remove("broker")
    # A rule names one of several connections: another one is no other subject where there is more to compare.
    compared = [name for name in shared if name != "connection"] or shared
    return bool(compared) and all(one[name] == other[name] for name in compared)


def _may_touch(one: Finding, other: Finding) -> bool:
    """Whether they are of the same time, and not of two clusters."""
    clusters = {one.cluster, other.cluster} - {None}
    return len(clusters) < 2 and _at_the_same_time(one.row, other.row)


def _at_the_same_time(one: dict[str, Any], other: dict[str, Any]) -> bool:
    first, last, other_first, other_last = (
        each.get(end) for each in (one, other) for end in ("first_time_ns", "last_time_ns")
    )
    if first is None or last is None or other_first is None or other_last is None:
        return True
    return bool(other_first <= last + SLACK_NS and first <= other_last + SLACK_NS)
