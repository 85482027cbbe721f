"""`kanalyze check`: limits for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, format_option, opened
from analyzer.cli.outcome import CHECK_FAILED, UNREADABLE, say

if TYPE_CHECKING:
    from analyzer.compare.checks import Check, Result

# Flag -> the check that it stands for: metric, column, on the sum, which rows.
FLAGS: dict[str, tuple[str, str, bool, dict[str, Any]]] = {
    "max_p99": ("latency", "p99_ns", False, {"reach": "broker"}),
    "max_errors": ("errors", "unexpected", True, {"between_brokers": False}),
    "max_throttled": ("throttle", "share", False, {}),
    "max_unanswered": ("unanswered", "lost", True, {}),
}


@click.command(short_help="Limits for CI; exit code 1 when one is broken.")
@captures
@click.option(
    "--rules",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="TOML file of checks: tables with metric, where, column or sum, max, min.",
)
@click.option("--max-p99", metavar="TIME", help="Latency of every API, waits by design left out: 50ms, 1.5s.")
@click.option("--max-errors", metavar="N", help="Errors beyond normal operation, in all.")
@click.option("--max-throttled", metavar="PERCENT", help="Share of its time in which a client is muted: 5%.")
@click.option("--max-unanswered", metavar="N", help="Requests cut off by the end of their connection, in all.")
@click.option("--no-high", is_flag=True, help="No finding of severity high.")
@click.option("--broker-version", metavar="RELEASE", help="No client breaks on this release of Kafka: 4.0.0, 4.1, 4.3.")
@format_option("table", "json", "jsonl")
@capture_options()
def command(
    inputs: tuple[str, ...],
    options: Options,
    form: str,
    rules: Path | None,
    no_high: bool,
    broker_version: str | None,
    **limits: str | None,
) -> int:
    """Hold captures against limits; exit code 1, and a list of what failed, when one is broken.

    Limits are flags, or tables of a TOML file:

    \b
        [produce-is-fast]
        metric = "latency"
        where = { api_name = "Produce" }
        column = "p99_ns"
        max = "50 ms"

    A metric is a file of analyzer/query/metrics, or "findings" (finding, severity, count). Other filters narrow what is
    looked at. What is not known does not pass.
    """
    from analyzer.compare.checks import CheckError, run

    try:
        checks = _checks(rules, no_high, broker_version, limits)
        if not checks:
            raise click.UsageError("nothing to check: give --rules FILE or a limit such as --max-p99 50ms")
        with opened(inputs, options, None) as dataset:
            results = run(dataset, checks)
            _print(results, form)
            failed = any(not result.passed for result in results)
            return max(exit_code(dataset), CHECK_FAILED if failed else 0)
    except CheckError as error:
        say(str(error))
        return UNREADABLE


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


def _print(results: list[Result], form: str) -> None:
    if form == "table":
        for result in results:
            for line in _lines(result):
                click.echo(line)
        return
    from analyzer.base.text import json_text

    found = [_object(result) for result in results]
    for each in [found] if form == "json" else found:
        click.echo(json_text(each))


def _object(result: Result) -> dict[str, Any]:
    check = result.check
    return {
        "check": check.name,
        "passed": result.passed,
        "metric": check.metric,
        "column": check.column,
        "min": None if check.least is None else float(check.least),
        "max": None if check.most is None else float(check.most),
        "matched": result.matched,
        "judged": result.judged,
        "failed": result.failed,
    }


def _lines(result: Result) -> list[str]:
    """`ok` or `FAILED`, then a line per row that breaks the limit."""
    from analyzer.base.text import printable

    check = result.check
    word = "ok    " if result.passed else "FAILED"
    limits = [f"{sign} {limit:f}" for sign, limit in ((">=", check.least), ("<=", check.most)) if limit is not None]
    what = f"sum of {check.column}" if check.total else check.column
    lines = [f"{word} {check.name}: {check.metric}, {what} {' and '.join(limits)} ({result.matched:,} rows)"]
    if not result.passed and not result.judged:
        lines.append("         nothing to judge: no row matched, or none has a value")
    for row in result.failed[:20]:
        words = [f"{name}={value}" for name, value in row.items() if isinstance(value, str)]
        lines.append(f"         {row[check.column]}  {printable(' '.join(words))}".rstrip())
    if len(result.failed) > 20:
        lines.append(f"         ... and {len(result.failed) - 20:,} more")
    return lines
