"""What needs attention: findings, the worst first, each with the command that shows more. Short on purpose."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from analyzer.base.wait_kinds import BROKER, kind_of
from analyzer.query.incidents import LAST_RANK, Finding
from analyzer.query.readability import NOTHING, WHOLE
from analyzer.report import text_tables
from analyzer.report.dimension_columns import api
from analyzer.report.facts import Facts
from analyzer.report.format import argument, can_be_typed, clock, duration, things
from analyzer.report.readability_words import sentence as sentence_of
from analyzer.report.sections.errors import is_expected
from analyzer.report.sentences import look, sentence
from analyzer.report.text_tables import typed
from dissectors.kafka.schema.lookup import api_name

Numbered = tuple[int, Finding]
STYLES = {"high": "bold red", "medium": "yellow", "info": "cyan"}
# On the first screen one rule must not hide the others: the rest of its findings are counted.
OF_ONE_RULE = 2
COMMAND = "kanalyze findings"
# With a request that took so long a report never sounds as if all were well.
SLOW_NS = 1_000_000_000
# Rules that explain one of these tell why requests were slow, or why they were not answered.
SLOW_REQUESTS = frozenset({"head_of_line", "slow_broker", "request_timed_out"})
LOST_REQUESTS = frozenset({"unanswered"})
# The account of impact that errors are in.
REFUSED = "refused"
# Their requests wait at the broker by design, and may do so at the end of the capture.
WAITING_APIS = frozenset({"Fetch", "JoinGroup", "SyncGroup", "ShareFetch"})


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Findings under their numbers in `kanalyze findings`, those of severity info left out, or one sentence when nothing needs
    attention, and how many there are for information. Those of severity high are all shown, whatever `limit` says."""
    found = [(number, each) for number, each in enumerate(facts.findings(), 1) if each.severity != "info"]
    lines = [text_tables.heading("Needs attention", width)]
    if not found:
        hint = _hint(facts)
        text = _nothing(facts, hint)
        lines += [Text(text_tables.INDENT + line) for line in text_tables.wrap(text, width - 2)]
        lines += _look_at_slowest(facts, width) if hint is None else _lines(*hint, width)
        return lines + _for_information(facts, hint, width)
    shown = found if limit is None else _chosen(found, limit)
    for number, finding in shown:
        lines += _lines(number, finding, width)
    hidden = sorted({number for number, _ in found} - {number for number, _ in shown})
    if hidden and hidden[0] < shown[-1][0]:
        return lines + text_tables.suggestion(f"... and {listed(hidden)}", facts.ask(COMMAND), width)
    return lines + text_tables.more(len(hidden), facts.ask(COMMAND), width)


def _for_information(facts: Facts, hint: Numbered | None, width: int) -> list[Text]:
    """Where the findings are that are not shown; all of them are for information."""
    hidden = len(facts.findings()) - (hint is not None)
    if not hidden:
        return []
    more = "more " if hint is not None else ""
    return text_tables.suggestion(f"... and {hidden:,} {more}for information", facts.ask(COMMAND), width)


def listed(numbers: list[int]) -> str:
    """4 to 15 and 18, which are all the numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _look_at_slowest(facts: Facts, width: int) -> list[Text]:
    """The command that shows the API with the slowest request; nothing where none was timed."""
    if NOTHING in (facts.readability("findings").verdict, facts.readability("latency").verdict):
        return []
    if (worst := _slowest(facts)) is None or not can_be_typed(worst["api_name"]):
        return []
    command = facts.ask(f"kanalyze latency --api {argument(worst['api_name'])}")
    room = width - len(text_tables.INDENT)
    return [Text(text_tables.INDENT + line, style=text_tables.DIM) for line in typed(command, room)]


def _hint(facts: Facts) -> Numbered | None:
    """The finding for information that says most, by what is wrong. Requests were slow or without a reply: the first that explains
    it. None was slow: the first that explains errors, else the first about impact. Failing all: impact that no rule explains."""
    if NOTHING in (facts.readability("findings").verdict, facts.readability("errors").verdict):
        return None
    row, worst = facts.coverage(), _slowest(facts)
    wanted = LOST_REQUESTS if row["closed"] + row["abandoned"] else frozenset[str]()
    if _overdue(facts) or (worst is not None and worst["max_ns"] >= SLOW_NS):
        wanted |= SLOW_REQUESTS
    found = list(enumerate(facts.findings(), 1))
    for number, each in found:
        if wanted & {each.rule.name, *(explained.rule for explained in each.rule.explains)}:
            return number, each
    is_slow = bool(wanted & SLOW_REQUESTS)
    if not is_slow and _errors(facts):
        for number, each in found:
            if any(cost.account == REFUSED for cost in each.rule.costs):
                return number, each
    left = (
        (number, each) for number, each in found if each.rule.rank >= LAST_RANK or (each.rule.costs and not is_slow)
    )
    return next(left, None)


def _errors(facts: Facts) -> int:
    """How many are beyond normal operation, of clients."""
    return sum(
        each["count"] for each in facts.rows("errors") if not each["between_brokers"] and is_expected(each) is False
    )


def _nothing(facts: Facts, hint: Numbered | None) -> str:
    verdict = facts.readability("findings")
    if verdict.verdict == NOTHING:
        return sentence_of(verdict)
    if facts.readability("errors").verdict == NOTHING:
        return "Nothing found in the requests; errors, throttling and missing replies are not known."
    where = "" if verdict.verdict == WHOLE else " in what could be read"
    where += " by the rules that could be asked" if any(name.startswith("finding ") for name in facts.left_out) else ""
    clean, is_clean = _counts(facts)
    found = "Nothing found" if is_clean and not facts.findings() else "Nothing serious found"
    below = " For information:" if hint is not None else _largest(facts)
    no_cause = "" if hint is not None and hint[1].rule.rank < LAST_RANK else ", and no cause was found"
    if (late := _overdue(facts)) is not None:
        waited = f"a request ({late['api_name']}) had waited {duration(late['longest_pending_ns'])} for its reply"
        return f"Something was slow{no_cause}{where}: {waited} when the capture ended; {clean}.{below}"
    if (worst := _slowest(facts)) is None:
        return f"{found}{where}: {clean}.{below}"
    slowest = f"the slowest request took {duration(worst['max_ns'])} ({api(worst)})"
    if worst["max_ns"] >= SLOW_NS:
        return f"Something was slow{no_cause}{where}: {slowest}; {clean}.{below}"
    return f"{found}{where}: {clean}; {slowest}.{below}"


def _largest(facts: Facts) -> str:
    """The entry of an account that is nearest to its limit, with its unit; empty where the accounts are."""
    for row in facts.rows("largest_impact"):
        name = api_name(row["api_key"]) if row["api_key"] is not None else None
        what = {
            "time": f"{things(row['times'], f'{name} request', f'{name} requests')} of 500 ms or longer",
            "rebalance": f"a wait of {duration(row['lost_ns'])} for other members ({name})",
            "connecting": f"a connection that was answered after {duration(row['lost_ns'])}",
            "unanswered": f"{things(row['times'], f'{name} request', f'{name} requests')} without a reply",
            "refused": things(row["times"], f"refused {name} request", f"refused {name} requests"),
        }[row["account"]]
        return f" Largest impact: {what}."
    return ""


def _counts(facts: Facts) -> tuple[str, bool]:
    """What no rule found worth a finding, in words, and whether it was nothing: as the tables below it count."""
    row = facts.coverage()
    cut = row["closed"] + row["abandoned"]
    errors = _errors(facts)
    throttled = sum(each["throttled"] for each in facts.rows("throttle"))
    parts = [
        f"{things(errors, 'error')} beyond normal operation" if errors else "no errors beyond normal operation",
        things(throttled, "throttled reply", "throttled replies") if throttled else "no throttling",
    ]
    if cut:
        parts.append(f"{things(cut, 'request')} unanswered when a connection ended")
    elif not facts.is_log_alone:
        parts.append("no unanswered requests")
    return ", ".join(parts), not errors and not throttled


def _slowest(facts: Facts) -> dict[str, Any] | None:
    """What took longest of all that does not wait by design; None: nothing of the kind was timed."""
    timed = [row for row in facts.rows("latency") if row["max_ns"] is not None and kind_of(row["kind"]).reach == BROKER]
    if not timed:
        return None
    return max(timed, key=lambda row: row["max_ns"])


def _overdue(facts: Facts) -> dict[str, Any] | None:
    """What had waited longest for a reply when the capture ended, of all that does not wait by design; None: nothing long."""
    waits = [
        row
        for row in facts.rows("unanswered")
        if (row["longest_pending_ns"] or 0) >= SLOW_NS and row["api_name"] not in WAITING_APIS
    ]
    return max(waits, key=lambda row: row["longest_pending_ns"], default=None)


def _chosen(found: list[Numbered], limit: int) -> list[Numbered]:
    """All of severity high; up to `limit` others too, but not the third and later ones of a rule."""
    seen = Counter[str]()
    kept: list[Numbered] = []
    for number, finding in found:
        seen[finding.rule.name] += 1
        if finding.severity == "high" or (len(kept) < limit and seen[finding.rule.name] <= OF_ONE_RULE):
            kept.append((number, finding))
    return kept


def mark(finding: Finding) -> str:
    """Whether it is over; empty when that is not known."""
    if finding.lingers:
        return ", its effects ongoing"
    return {None: "", True: ", ongoing", False: ", ended"}[finding.running]


def _time(finding: Finding) -> str:
    """The time span, and whether it is over; empty when its time is not known."""
    first, last = finding.row.get("first_time_ns"), finding.row.get("last_time_ns")
    if first is None or last is None:
        return ""
    until = "" if clock(first) == clock(last) else f" to {clock(last)}"
    return f"{clock(first)}{until}{mark(finding)}"


def _lines(number: int, finding: Finding, width: int) -> list[Text]:
    """The sentence, wrapped; below it when that was, and the command that shows more."""
    prefix = f"{number:>3} {finding.severity:<7} "
    texts = text_tables.wrap(sentence(finding.rule.says, finding.row), width - len(prefix))
    lines = [Text.assemble(prefix[:4], (prefix[4:], STYLES[finding.severity]), texts[0])]
    lines += [Text(" " * len(prefix) + text) for text in texts[1:]]
    time, command = _time(finding), look(finding)
    room = width - len(prefix)
    one_line = f"{time}   {command}" if time else command
    below = [one_line] if cell_len(one_line) <= room else [time, *typed(command, room)]
    return lines + [Text(" " * len(prefix) + text, style=text_tables.DIM) for text in below if text]
