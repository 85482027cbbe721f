"""What needs attention: findings, the worst first, each with the command that shows more. Short on purpose."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from analyzer.query.incidents import Finding
from analyzer.report import text_tables
from analyzer.report.facts import Facts
from analyzer.report.sentences import command, sentence

STYLES = {"high": "bold red", "medium": "yellow", "info": "cyan"}
# On the first screen one rule must not hide the others: the rest of its findings are counted.
OF_ONE_RULE = 2
COMMAND = "kanalyze findings"


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Numbered findings, those of severity info left out, or one sentence when nothing needs attention."""
    found = [finding for finding in facts.findings() if finding.severity != "info"]
    lines = [text_tables.heading("Needs attention", width)]
    if not found:
        text = "Nothing, in what could be read: no error beyond normal operation, no throttling, no request cut off."
        return lines + [Text(text_tables.INDENT + line) for line in text_tables.wrap(text, width - 2)]
    shown = found if limit is None else _varied(found)[:limit]
    for number, finding in enumerate(shown, 1):
        lines += _lines(number, finding, width)
    if len(found) > len(shown):
        rest = f"{text_tables.INDENT}... and {len(found) - len(shown):,} more ({COMMAND})"
        lines.append(Text(text_tables.cut(rest, width), style=text_tables.DIM))
    return lines


def _varied(found: list[Finding]) -> list[Finding]:
    """The findings without the third and later ones of each rule, in their order."""
    seen: dict[str, int] = {}
    kept = []
    for finding in found:
        seen[finding.rule.name] = seen.get(finding.rule.name, 0) + 1
        if seen[finding.rule.name] <= OF_ONE_RULE:
            kept.append(finding)
    return kept


def _lines(number: int, finding: Finding, width: int) -> list[Text]:
    """The sentence, wrapped, with the command at its right or, where there is no room, on a line of its own."""
    prefix = f"{number:>3} {finding.severity:<7} "
    texts = text_tables.wrap(sentence(finding.rule.says, finding.row), width - len(prefix))
    look = command(finding.rule.look, finding.row)
    lines = [Text.assemble(prefix[:4], (prefix[4:], STYLES[finding.severity]), texts[0])]
    lines += [Text(" " * len(prefix) + text) for text in texts[1:]]
    if len(prefix) + cell_len(texts[-1]) + 3 + cell_len(look) <= width:
        lines[-1].append(f"   {look}", style=text_tables.DIM)
    else:
        lines.append(Text(text_tables.cut(" " * len(prefix) + look, width), style=text_tables.DIM))
    return lines
