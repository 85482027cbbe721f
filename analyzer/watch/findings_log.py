"""Findings of a run that goes on: each once, from when it became true until it is no longer told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from analyzer.query.incidents import SUBJECTS, Finding

# Findings that are over are remembered, so many at most.
MOST_OVER = 1_000

Key = tuple[str, tuple[Any, ...]]


@dataclass(slots=True)
class Told:
    """A finding with when it was first told, by the time of packets, ns. `over`: the rules no longer tell it."""

    number: int
    finding: Finding
    since_ns: int
    over: bool = False

    def age_ns(self, now_ns: int) -> int:
        """How long ago it began, by the time of the packets."""
        began = self.finding.row.get("first_time_ns")
        return max(0, now_ns - (self.since_ns if began is None else began))


def key_of(finding: Finding) -> Key:
    """By what a finding is known again: its rule, and what it is about. Connections come and go."""
    row = finding.row
    about = tuple(row.get(name) for name in SUBJECTS if name != "connection")
    return finding.rule.name, about if any(each is not None for each in about) else (row.get("connection"),)


class FindingsLog:
    """Numbers findings in the order in which they were first told."""

    def __init__(self) -> None:
        self._told: dict[Key, Told] = {}
        self._numbers = 0

    def take(self, found: Sequence[Finding], now_ns: int) -> list[Told]:
        """What the rules tell now; returns what is new, or true again."""
        new = []
        now: set[Key] = set()
        for finding in found:
            key = key_of(finding)
            if key in now:
                continue
            now.add(key)
            known = self._told.get(key)
            if known is None or known.over:
                self._numbers += 1
                self._told[key] = known = Told(self._numbers, finding, now_ns)
                new.append(known)
            known.finding = finding
        symptoms = {key_of(each) for finding in found for each in finding.symptoms}
        for key, told in list(self._told.items()):
            if key not in now:
                told.over = True
                if key in symptoms:
                    del self._told[key]  # it is listed below its cause
        self._forget()
        return new

    def _forget(self) -> None:
        over = [key for key, told in self._told.items() if told.over]
        for key in over[: max(0, len(over) - MOST_OVER)]:
            del self._told[key]

    def all(self) -> list[Told]:
        """Those that are told now, the worst first, then those that are over, the newest first."""
        told = sorted(self._told.values(), key=lambda each: (each.over, each.finding.order()))
        now = [each for each in told if not each.over]
        return now + sorted((each for each in told if each.over), key=lambda each: -each.number)

    def findings(self) -> list[Finding]:
        """All of the run, the worst first."""
        found = [replace(t.finding, running=False, lingers=False) if t.over else t.finding for t in self._told.values()]
        return sorted(found, key=Finding.order)
