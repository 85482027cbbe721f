"""`kanalyze check`: limits for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, format_option, opened, tell_first
from analyzer.cli.outcome import CHECK_FAILED, FINE, NOT_READ, UNREADABLE, say
from analyzer.query.questions import RELEASES

if TYPE_CHECKING:
    from analyzer.compare.checks import Check, Result
    from analyzer.query.readability import Readability

# Flag -> its check: metric, column, whether the sum over rows is checked, which rows.
FLAGS: dict[str, tuple[str, str, bool, dict[str, Any]]] = {
    "max_p99": ("latency", "p99_ns", False, {"reach": "broker"}),
    "max_errors": ("errors", "unexpected", True, {"between_brokers": False}),
    "max_throttled": ("throttle", "share", False, {}),
    "max_unanswered": ("unanswered", "lost", True, {}),
}


@click.command(short_help="Limits for CI; exit code 1 when one is broken, 3 when one was not measured.")
@captures
@click.option(
    "--rules",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="TOML file of checks: tables with metric, where, column or sum, max, min.",
)
@click.option("--max-p99", metavar="TIME", help="p99 latency of every API, without waits by design: 50ms, 1.5s.")
@click.option("--max-errors", metavar="N", help="Errors beyond normal operation, in total.")
@click.option("--max-throttled", metavar="PERCENT", help="Share of its time in which a client is muted: 5%.")
@click.option("--max-unanswered", metavar="N", help="Requests unanswered when their connection ended, in total.")
@click.option("--no-high", is_flag=True, help="No finding of severity high.")
@click.option(
    "--broker-version",
    type=click.Choice(RELEASES),
    metavar="RELEASE",
    help=f"No client breaks on this release of Kafka: {', '.join(RELEASES)}.",
)
@format_option("table", "json", "jsonl")
@capture_options(strict=False)
def command(
    inputs: tuple[str, ...],
    options: Options,
    form: str,
    rules: Path | None,
    no_high: bool,
    broker_version: str | None,
    **limits: str | None,
) -> int:
    """Check captures against limits; exit code 1 when one is broken, 3 when one could not be measured.

    Limits are flags, or tables of a TOML file:

    \b
        [produce-is-fast]
        metric = "latency"
        where = { api_name = "Produce" }
        column = "p99_ns"
        max = "50 ms"

    A metric is a file of analyzer/query/metrics, or "findings" (finding, severity, count). A limit on times, bytes or shares
    needs a unit. Filters restrict what is checked. What could not be measured does not pass: a capture with encrypted traffic
    or with more than 1 % loss, a name that does not occur, no rows.
    """
    from analyzer.compare.checks import CheckError, run
    from analyzer.query.readability import readability

    try:
        checks = _checks(rules, no_high, broker_version, limits)
        if not checks:
            raise click.UsageError("nothing to check: give --rules FILE or a limit such as --max-p99 50ms")
        with opened(inputs, options, None, asks=None, form=form) as dataset:
            results = run(dataset, checks)
            _print(results, readability(dataset), form)
            return exit_code(dataset) or _exit_code(results)
    except CheckError as error:
        say(str(error))
        return UNREADABLE


def _exit_code(results: list[Result]) -> int:
    from analyzer.compare.checks import FAILED, PASSED

    verdicts = {result.verdict for result in results}
    return CHECK_FAILED if FAILED in verdicts else FINE if verdicts <= {PASSED} else NOT_READ


def _checks(
    rules: Path | None, no_high: bool, broker_version: str | None, limits: dict[str, str | None]
) -> list[Check]:
    from analyzer.compare.checks import FINDINGS, Check, CheckError, amount, parse

    checks = []
    if rules is not None:
        try:
            checks = parse(rules.read_text(encoding="utf-8"))
        except (CheckError, UnicodeDecodeError) as error:
            raise CheckError(f"{rules}: {error}") from error
    for flag, text in limits.items():
        if text is not None:
            metric, column, total, where = FLAGS[flag]
            name = f"--{flag.replace('_', '-')}"
            checks.append(Check(name, metric, column, total, None, amount(text, column, name), where))
    nothing = amount(0, "count", "")
    if no_high:
        checks.append(Check("--no-high", FINDINGS, "count", True, None, nothing, {"severity": "high"}))
    if broker_version is not None:
        where = {"release": broker_version, "verdict": ["breaks", "already_failing", "unknown"]}
        checks.append(Check("--broker-version", "readiness", "requests", True, None, nothing, where))
    return checks


def _print(results: list[Result], everything: Readability, form: str) -> None:
    from analyzer.report.readability_words import sentence

    # Where the checks would say different things about what could not be read, one sentence about the whole capture replaces all.
    lines = {line for line in (sentence(result.readability) for result in results) if line}
    if lines:
        tell_first(lines.pop() if len(lines) == 1 else sentence(everything), form)
    if form == "table":
        for result in results:
            for line in _lines(result):
                click.echo(line)
        return
    from analyzer.base.text import json_text
    from analyzer.report.check_rows import as_object

    found = [as_object(result) for result in results]
    for each in [found] if form == "json" else found:
        click.echo(json_text(each))


def _lines(result: Result) -> list[str]:
    """`ok`, `FAILED` with a line per row that breaks the limit, or `not measured`."""
    from analyzer.base.text import printable
    from analyzer.compare.checks import FAILED, PASSED
    from analyzer.report.check_rows import measured
    from analyzer.report.format import things

    check = result.check
    word = {PASSED: "ok", FAILED: "FAILED"}.get(result.verdict, "not measured")
    limits = [
        f"{sign} {measured(limit, check.column)}"
        for sign, limit in ((">=", check.least), ("<=", check.most))
        if limit is not None
    ]
    what = f"sum of {check.column}" if check.total else check.column
    lines = [
        f"{word:<12} {check.name}: {check.metric}, {what} {' and '.join(limits)} ({things(result.matched, 'row')})"
    ]
    if result.unknown:
        lines.append(f"             {printable(result.unknown)}")
    held = [limit for limit in (check.least, check.most) if limit is not None]
    for row in result.failed[:20]:
        words = [f"{name}={value}" for name, value in row.items() if isinstance(value, str)]
        lines.append(
            f"             {measured(row[check.column], check.column, held)}  {printable(' '.join(words))}".rstrip()
        )
    if len(result.failed) > 20:
        lines.append(f"             ... and {len(result.failed) - 20:,} more")
    return lines
