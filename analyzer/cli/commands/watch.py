"""`kanalyze watch`: what is going on now, in captures that grow."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from analyzer.base.options import Options
from analyzer.base.text import file_text
from analyzer.cli.common import capture_options, say_when_uncompiled
from analyzer.cli.outcome import FINE, UNREADABLE, bug, say
from analyzer.cli.values import Endpoint, Size, Span

if TYPE_CHECKING:
    from analyzer.watch.answers import Answer
    from analyzer.watch.live_session import Session

SECOND_NS = 1_000_000_000


@click.command(short_help="What is going on now: a screen, JSON lines, Prometheus, a flight recorder.")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--every",
    "every_ns",
    type=Span(),
    metavar="TIME",
    help="Look again after so long, if the analysis leaves time.  [default: 10s; 60s without a terminal]",
)
@click.option(
    "--window",
    "span_ns",
    type=Span(),
    default=600 * SECOND_NS,
    metavar="TIME",
    help="Look at the last so much time; at high rates at less.  [default: 10m]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("screen", "jsonl")),
    metavar="FORMAT",
    help="screen or jsonl: a line of JSON each time.  [default: screen on a terminal, else jsonl]",
)
@click.option(
    "--metrics",
    "address",
    type=Endpoint(),
    metavar="[ADDRESS]:PORT",
    help="Serve metrics for Prometheus; without an address to this machine alone.",
)
@click.option(
    "--metrics-host",
    "metrics_hosts",
    multiple=True,
    metavar="NAME",
    help="Answer questions under this name, too, beside the address itself; may be repeated.",
)
@click.option(
    "--otlp",
    metavar="FILE|URL",
    help="Send metrics to a receiver of OTLP over HTTP after each look, or add them to a new file as JSON lines.",
)
@click.option(
    "--spool",
    "spool_bytes",
    type=Size(),
    default=1 << 30,
    metavar="SIZE",
    help="Keep so much of a pipe on disk when reading falls behind.  [default: 1GiB]",
)
@click.option(
    "--record",
    "record",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the last minutes there, and an extract, a report and what was found for each incident.",
)
@click.option(
    "--keep",
    "keep_ns",
    type=Span(),
    default=600 * SECOND_NS,
    metavar="TIME",
    help="Keep so much time ...  [default: 10m]",
)
@click.option(
    "--record-size",
    "record_bytes",
    type=Size(),
    default=1 << 30,
    metavar="SIZE",
    help="... within so many bytes on disk.  [default: 1GiB]",
)
@click.option(
    "--on",
    "severity",
    type=click.Choice(("high", "medium")),
    default="high",
    show_default=True,
    help="An incident is what has findings of this severity, or a worse one.",
)
@click.option(
    "--after",
    "after_ns",
    type=Span(),
    default=10 * SECOND_NS,
    metavar="TIME",
    help="The extract holds so much of what follows.  [default: 10s]",
)
@click.option(
    "--hook", metavar="COMMAND", help="Run this for each incident; KANALYZE_DIRECTORY and others describe it."
)
@capture_options(strict=False, beside=("names",))
def command(
    sources: tuple[str, ...],
    options: Options,
    every_ns: int | None,
    span_ns: int,
    form: str | None,
    address: tuple[str, int] | None,
    metrics_hosts: tuple[str, ...],
    otlp: str | None,
    spool_bytes: int,
    record: Path | None,
    keep_ns: int,
    record_bytes: int,
    severity: str,
    after_ns: int,
    hook: str | None,
) -> int:
    """Show what is going on in captures while they are taken.

    A SOURCE is `-` (standard input), a named pipe, a file that grows, or a directory (or glob) of a ring's files, as `dumpcap -b`
    and `tcpdump -C`, `-G` and `-W` write them: read in the order of their first packets, while the ring overwrites them. Several
    sources are read at once; --tap NAME=PATH names a source and its capture point. Key logs (--tls-keylog) may grow too,
    and lists of names (--names) change.

    Keys: s sorts, / filters, f freezes, 1 to 9 open a finding, q ends and prints the report. Metrics, findings and words are those
    of `kanalyze report`, over the last --window; counts and latency of the report at the end are those of the whole run.
    """
    from analyzer.cli.watch_screen import has_terminal, show
    from analyzer.inputs.live.feeds import names_of, reads_in
    from analyzer.inputs.readings import tap_of
    from analyzer.watch.live_session import Session
    from analyzer.watch.recorder import Recorder, Settings

    say_when_uncompiled()
    form = form or ("screen" if has_terminal() else "jsonl")
    if form == "screen" and not has_terminal():
        raise click.UsageError("there is no terminal to draw on; choose --format jsonl")
    every_s = (every_ns or (10 if form == "screen" else 60) * SECOND_NS) / SECOND_NS
    # Filters may name any column.
    options = replace(options, seldom=bool(options.filters), jobs=1)
    names = names_of(sources, options.taps)
    notes: list[str] = []
    if hook is not None and record is None:
        raise click.UsageError("--hook runs for what --record keeps: name a directory")
    if record is not None and (inside := [name for name in names if reads_in(name, record)]):
        raise click.UsageError(
            f"{file_text(inside[0])}: would read what --record writes into {file_text(str(record))}; name another directory"
        )
    if metrics_hosts and address is None:
        raise click.UsageError("--metrics-host names what --metrics serves: give it an address")
    takers: list[Callable[[Answer], None]] = []
    if otlp is not None:
        from analyzer.watch.otlp_sink import OtlpSink

        takers.append(OtlpSink(otlp, notes.append if form == "screen" else say).take)
    with ExitStack() as stack:
        recorder = None
        if record is not None:
            settings = Settings(record, keep_ns, record_bytes, severity, after_ns, hook)
            taps = [tap_of(name, options.taps) for name in names]
            recorder = Recorder(settings, taps, options, notes.append if form == "screen" else say)
            stack.callback(recorder.close)
            takers.append(recorder.take)
        session = Session(sources, options, span_ns, every_s, spool_bytes, recorder.ring if recorder else None)
        stack.callback(session.close)
        session.on_answer = partial(_hand_on, takers)
        stack.enter_context(_asked_to_stop(session))
        if address is not None:
            _serve(stack, address, metrics_hosts, session)
        if form == "screen":
            show(session, names, notes)
        else:
            _print_lines(session)
        session.stop()
        while not session.wait(1):
            pass
        if recorder is not None and session.answer is not None:
            recorder.take(session.answer, is_last=True)
            recorder.wait()
        for note in notes if form == "screen" else ():
            say(note)
        if form == "screen":
            _print_report(session)
        return _ended(session)


def _hand_on(takers: Sequence[Callable[[Answer], None]], answer: Answer) -> None:
    for take in takers:
        take(answer)


def _ended(session: Session) -> int:
    """Says what of the sources could not be read, as a report does; 2 when there is such a one, 70 after a bug of ours."""
    from analyzer.run.warnings import input_warnings, is_unreadable

    for reading in session.readings:
        for line in input_warnings(reading):
            say(line)
    if session.bugs:
        return max(map(bug, session.bugs))
    return UNREADABLE if any(map(is_unreadable, session.readings)) else FINE


def _serve(stack: ExitStack, address: tuple[str, int], hosts: tuple[str, ...], session: Session) -> None:
    from analyzer.watch.metrics_server import LOOPBACK, MetricsServer

    host, port = address
    try:
        server = MetricsServer(host or LOOPBACK, port, session, hosts)
    except OSError as error:
        raise click.UsageError(
            f"{host or LOOPBACK}:{port}: no metrics can be served there: {error.strerror}"
        ) from error
    stack.callback(server.close)
    say(f"metrics: http://{host or LOOPBACK}:{server.port}/metrics")


def _print_lines(session: Session) -> None:
    """A line for each answer, until the end."""
    from analyzer.watch.json_lines import line

    told = None
    while True:
        ended = session.wait(0.1)
        if (answer := session.answer) is not None and answer is not told:
            told = answer
            sys.stdout.write(line(answer, session.pulse) + "\n")
            sys.stdout.flush()
        if session.trouble is not None and not ended:
            say(session.trouble)
            session.trouble = None
        if ended:
            return


def _print_report(session: Session) -> None:
    from analyzer.cli.screen import screen
    from analyzer.report.format import moment
    from analyzer.report.terminal import print_report

    if session.answer is None:
        return
    if session.begin_ns is not None:
        say(
            "latency, throttling, errors, counts and findings are of the whole run; brokers, clients, topics, groups and "
            f"connections of the time since {moment(session.begin_ns)} UTC"
        )
    with session.facts() as facts, screen() as console:
        print_report(facts, console)


@contextmanager
def _asked_to_stop(session: Session) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends reading, and the last answer follows; the second ends the program."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each, handler in before.items():
            signal.signal(each, handler)
        session.stop()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
