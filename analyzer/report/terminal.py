"""The report on a terminal: sections in order, the answer first. The only place that writes to a console.

Rules: between 80 and 200 cells wide, colours only where the console has them (rich drops them on a pipe), captured text
never as markup and never with control characters, no line wider than the console.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from analyzer.query.readability import NOTHING, WHOLE, has_no_answer
from analyzer.report import text_tables
from analyzer.report.facts import Facts

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset
    from analyzer.query.incidents import Finding

NARROWEST, WIDEST = 80, 200

# Section -> rows of its table in the report. Every one of them can also be printed alone, and then in full.
SECTIONS = {
    "coverage": 0,
    "attention": 8,
    "capture": 0,
    "latency": 14,
    "throttle": 8,
    "errors": 10,
    "busiest": 6,
    "connections": 8,
    "unanswered": 8,
}
# The metrics behind them, asked while another thread looks for findings.
AHEAD = (
    "latency",
    "throttle",
    "errors",
    "top_clients",
    "top_topics",
    "groups",
    "alike_connections_of_note",
    "unanswered",
)
ALONE = (*SECTIONS, "clients", "findings")


def print_report(facts: Facts, console: Console) -> None:
    """Prints the whole report, with the facts of `facts_of_report`; a capture without Kafka gets its own page instead."""
    width = _width(console)
    if (lines := _affordable("coverage", facts, width, None)) is not None:
        if facts.coverage()["kafka_connections"] and not facts.matched():
            _print(console, _section("nothing", facts, width, None))
            return
        _print(console, lines)
        if not facts.coverage()["kafka_connections"]:
            _print_without_kafka(facts, console, width)
            return
    # While another thread looks for findings.
    capture = _affordable("capture", facts, width, None)
    for metric in AHEAD:
        facts.try_rows(metric)
    for name in SECTIONS:
        if name == "coverage":
            continue
        if lines := capture if name == "capture" else _affordable(name, facts, width, SECTIONS[name]):
            _print(console, [Text(""), *lines])
    _print_left_out(facts, console)


def _print_without_kafka(facts: Facts, console: Console, width: int) -> None:
    found: Sequence[Finding] = ()
    try:
        found = facts.findings()
    except Exception as error:
        if not facts.leave_out("attention", error):
            raise
    if found:
        # Here nothing else would lead to what is for information only.
        name = "findings" if all(each.severity == "info" for each in found) else "attention"
        _print(console, [Text(""), *_section(name, facts, width, SECTIONS["attention"])])
    _print(console, [Text(""), *_section("no_kafka", facts, width, 20)])
    _print_left_out(facts, console)


def _print_left_out(facts: Facts, console: Console) -> None:
    if facts.left_out:
        _print(console, [Text(""), *(Text(f"Not shown: {name}: {reason}") for name, reason in facts.left_out.items())])


def _is_unknown(name: str, facts: Facts) -> bool:
    return has_no_answer(facts.readability(name))


def _affordable(name: str, facts: Facts, width: int, limit: int | None) -> list[Text] | None:
    """The lines of a section; None when nothing that it asks for was read, and when it cannot be made, for lack of memory or disk
    or by a bug: then `facts` note why."""
    try:
        if _is_unknown(name, facts):
            return None
        return _section(name, facts, width, limit)
    except Exception as error:
        if not facts.leave_out(name, error):
            raise
        return None


def print_section(dataset: Dataset, name: str, console: Console, limit: int | None = None) -> None:
    """Prints one section in full (its `page`, where it has one), or at most `limit` rows; a sentence when there is
    nothing, another one when the filters leave nothing to look at.
    """
    facts = Facts(dataset)
    module = import_module(f"analyzer.report.sections.{name}")
    _print_alone(getattr(module, "page", module.render), name, facts, console, limit)


def print_part(facts: Facts, name: str, part: str, console: Console, limit: int | None = None) -> None:
    """Prints one of the tables that a section has (`PARTS`), or its `page`."""
    module = import_module(f"analyzer.report.sections.{name}")
    _print_alone(module.page if part == "page" else module.PARTS[part], name, facts, console, limit)


def _print_alone(
    render: Callable[[Facts, int, int | None], list[Text]], name: str, facts: Facts, console: Console, limit: int | None
) -> None:
    """Prints a section, or that there is nothing to say: as far as could be read, and only if something could."""
    width = _width(console)
    told = facts.readability(name)
    verdict = told.verdict
    if not facts.matched():
        lines = _section("nothing", facts, width, None)
    else:
        lines = [] if has_no_answer(told) else render(facts, width, limit)
    if not lines and verdict != NOTHING:
        lines = [Text(line) for line in text_tables.wrap(_nothing(name, verdict, facts.is_log_alone), width)]
        if instead := getattr(import_module(f"analyzer.report.sections.{name}"), "INSTEAD", ""):
            lines += text_tables.suggestion("Next", facts.ask(instead), width)
    if lines:
        _print(console, lines)
    _print_left_out(facts, console)


def _nothing(name: str, verdict: str, is_log_alone: bool) -> str:
    module = import_module(f"analyzer.report.sections.{name}")
    words: str = getattr(module, "NOTHING", f"Nothing to show for {name}.")
    if is_log_alone:
        words = getattr(module, "NOTHING_OF_LOG", words)
    return words if verdict == WHOLE else f"In what could be read: {words[0].lower()}{words[1:]}"


def print_verdict(text: str, console: Console) -> None:
    """Prints what could not be read, a sentence of `readability_words`: what comes before everything else."""
    _print(console, [Text(line, style=text_tables.HEADING) for line in text_tables.wrap(text, _width(console))])


def print_lines(console: Console, render: Callable[[int], list[Text]]) -> None:
    """Prints what `render` makes for the width of the console."""
    _print(console, render(_width(console)))


def _section(name: str, facts: Facts, width: int, limit: int | None) -> list[Text]:
    lines: list[Text] = import_module(f"analyzer.report.sections.{name}").render(facts, width, limit)
    return lines


def _width(console: Console) -> int:
    return min(max(console.width, NARROWEST), WIDEST)


def _print(console: Console, lines: list[Text]) -> None:
    # Sections have made their lines fit: the console must neither wrap nor colour nor interpret what is in them.
    console.print(Text("\n").join(lines), soft_wrap=True, highlight=False, markup=False, emoji=False)
