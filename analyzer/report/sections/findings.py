"""All findings in full: what is wrong, the evidence that opens in Wireshark, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.query.impact_causes import Share, by_finding
from analyzer.query.incidents import Evidence, Finding
from analyzer.report import text_tables
from analyzer.report.explained_impact import sentence_of, table
from analyzer.report.facts import Facts
from analyzer.report.format import moment, safe
from analyzer.report.sections.attention import STYLES, mark
from analyzer.report.sentences import look, sentence

_MARGIN = " " * 12
NOTHING = "No findings."


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """As `render`, with what each finding explains of the accounts of impact, and a table of what none explains."""
    if not facts.findings():
        return []
    told = facts.shares()
    return [*render(facts, width, limit, told), Text(""), *table(facts, told, width)]


def render(facts: Facts, width: int, limit: int | None, told: Sequence[Share] = ()) -> list[Text]:
    """A block of lines per finding; at most `limit` findings."""
    found = facts.findings()
    costs = by_finding(told)
    lines: list[Text] = []
    for number, finding in enumerate(found[:limit], 1):
        if lines:
            lines.append(Text(""))
        lines += block(number, finding, width, costs.get(number - 1, ()))
    return lines + text_tables.more(len(found[limit:]) if limit is not None else 0, "--limit 0", width)


def block(number: int, finding: Finding, width: int, costs: Sequence[Share] = ()) -> list[Text]:
    """One finding in full, under a number; `costs`: what it explains."""
    prefix = f"{number:>3} {finding.severity:<7} "
    texts = text_tables.wrap(sentence(finding.rule.says, finding.row), width - len(prefix))
    lines = [Text.assemble(prefix[:4], (prefix[4:], STYLES[finding.severity]), (texts[0], text_tables.HEADING))]
    lines += [Text(_MARGIN + text, style=text_tables.HEADING) for text in texts[1:]]
    room = width - len(_MARGIN) - 8
    for word, told in (
        ("do", text_tables.wrap(sentence(finding.rule.do, finding.row), room)),
        ("look", text_tables.typed(look(finding), room)),
        *((word, text_tables.wrap(text, room)) for word, text in _details(finding)),
        *(("costs", text_tables.wrap(sentence_of(each), room)) for each in costs),
    ):
        lines.append(Text(f"{_MARGIN}{word:<8}{told[0]}"))
        lines += [Text(f"{_MARGIN}{'':<8}{more}") for more in told[1:]]
    return lines


def _details(finding: Finding) -> list[tuple[str, str]]:
    row = finding.row
    details = []
    first, last = row.get("first_time_ns"), row.get("last_time_ns")
    if first is not None:
        until = "" if last in (None, first) else f" to {moment(last, 3)}"
        details.append(("when", f"{moment(first, 3)}{until} UTC{mark(finding)}"))
    details += [("see", _place(evidence)) for evidence in finding.evidence]
    return details + [("effect", text) for text in _symptoms(finding)]


def _symptoms(finding: Finding) -> list[str]:
    """What the finding explains: a sentence each, of one rule the first and how many more."""
    counts = Counter(each.rule.name for each in finding.symptoms)
    firsts = {each.rule.name: each for each in reversed(finding.symptoms)}
    return [
        sentence(each.rule.says, each.row) + (f" (and {counts[name] - 1:,} more)" if counts[name] > 1 else "")
        for name, each in reversed(firsts.items())
    ]


def _place(evidence: Evidence) -> str:
    """The exchange, and where Wireshark shows it."""
    name = exchange_id(evidence.exchange)
    if evidence.path is None or evidence.packet is None:
        return name
    return f"{name}, {safe(PurePath(evidence.path).name)} packet {evidence.packet:,}"
