"""What every command that reads captures shares: its arguments, its options, its session."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.address_space import check_limits
from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.settings import COST, SORTS
from analyzer.base.workers import default_jobs
from analyzer.cli.outcome import FINE, NOT_READ, UNREADABLE, bug, say
from analyzer.cli.values import CaptureTime, DecodeAs, Ports, Size, Span, Tap

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from analyzer.query.dataset import Dataset

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

DEFAULTS = Options()
# The large tables that a report is made from. `entries` costs as much as the others together.
REPORT_TABLES = ("exchanges", "errors")


def _filters(until: tuple[str, ...]) -> tuple[Decorator, ...]:
    return (
        click.option(
            "--client",
            "clients",
            multiple=True,
            metavar="GLOB",
            help="Only these client ids, addresses, hosts, pods or workloads.",
        ),
        click.option(
            "--broker",
            "brokers",
            multiple=True,
            metavar="GLOB",
            help="Only these brokers: id, address[:port], host, pod or zone (--names, or broker.rack).",
        ),
        click.option("--api", "apis", multiple=True, metavar="GLOB", help="Only these APIs: name or key."),
        click.option("--topic", "topics", multiple=True, metavar="GLOB", help="Only these topics: name or id."),
        click.option(
            "--namespace",
            "namespaces",
            multiple=True,
            metavar="GLOB",
            help="Only clients in these Kubernetes namespaces (--names).",
        ),
        click.option(
            "--zone",
            "zones",
            multiple=True,
            metavar="GLOB",
            help="Only clients in these zones (--names, or client.rack).",
        ),
        click.option(
            "--from",
            "from_ns",
            type=CaptureTime(),
            metavar="TIME",
            help="Only from this moment (UTC) on: 2026-05-01T22:46:20, 22:46:20, 22:46; +10s: after the first packet, -30s: "
            "before the last.",
        ),
        click.option(*until, "to_ns", type=CaptureTime(), metavar="TIME", help="Only before this moment."),
    )


# Options of reading. The name of each parameter is that of its field in `Options`.
_READING = (
    click.option(
        "--ports",
        type=Ports(),
        default=(),
        metavar="PORT,...",
        help="Ports of the brokers.  [default: Kafka is detected by content]",
    ),
    click.option(
        "--tls-keylog",
        "tls_key_logs",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Decrypt TLS with the secrets in this key log (SSLKEYLOGFILE); may be repeated.",
    ),
    click.option(
        "--tap",
        "taps",
        multiple=True,
        type=Tap(),
        metavar="NAME=GLOB",
        help="Captures that match GLOB were taken at capture point NAME: kept and counted apart; may be repeated.",
    ),
    click.option(
        "--decode-as",
        "decode_as",
        multiple=True,
        type=DecodeAs(),
        metavar="RULE",
        help="A tunnel on a non-standard port: udp.port==48879,vxlan; may be repeated.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1, max=64),
        metavar="N",
        help="Processes that share the connections of a large capture.  [default: one per core, 4 at most]",
    ),
    click.option(
        "--temp-dir",
        type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
        help="Directory for temporary tables (removed at the end).  [default: that of the system]",
    ),
    click.option(
        "--memory",
        "memory_bytes",
        type=Size(),
        metavar="SIZE",
        help="Memory for queries; what needs more is written to --temp-dir.  "
        "[default: four times the captures' bytes, at least 256MB, at most a quarter of the machine's, or 4GB]",
    ),
    click.option(
        "--max-frame",
        "max_frame_bytes",
        type=Size(),
        default=DEFAULTS.max_frame_bytes,
        metavar="SIZE",
        help="Read at most this much of one message.  [default: 128MiB]",
    ),
    click.option(
        "--max-connections",
        type=click.IntRange(min=1),
        metavar="N",
        help="Track at most this many connections at a time.  "
        "[default: as many as fit into an eighth of the machine's memory, 100000 to 5000000]",
    ),
    click.option(
        "--max-reassembly",
        "max_reassembly_bytes",
        type=Size(),
        default=DEFAULTS.max_reassembly_bytes,
        metavar="SIZE",
        help="Memory for TCP reassembly (bytes that wait for earlier ones).  [default: 256MiB]",
    ),
    click.option(
        "--reorder-packets",
        type=click.IntRange(min=1),
        default=DEFAULTS.reorder_packets,
        show_default=True,
        metavar="N",
        help="Missing bytes that were acknowledged may still arrive within this many packets of their connection ...",
    ),
    click.option(
        "--reorder-time",
        "reorder_ns",
        type=Span(),
        default=DEFAULTS.reorder_ns,
        metavar="TIME",
        help="... or within this time; after that they count as lost.  [default: 20ms]",
    ),
)


# Fields of files that say something about the captures.
BESIDE = ("request_logs", "names")
_REQUEST_LOG = click.option(
    "--request-log",
    BESIDE[0],
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Join the broker's own log of requests (kafka.request.logger at DEBUG; .gz and .zst too): where its time went; may be "
    "repeated.",
)
_NAMES = click.option(
    "--names",
    BESIDE[1],
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Names of addresses: a hosts file, a TSV with a head, JSON of kubectl get pods,nodes,services -A, of EC2 or GCE, "
    "or a capture with replies of DNS or comments of ptcpdump; may be repeated.",
)
# Options of patterns, with the names of their fields in `Filters`.
_GLOBS = ("clients", "brokers", "apis", "topics", "namespaces", "zones")
# Fields of `Options` that these options fill; the others are set by the verb.
_OF_THE_VERB = {"filters", "tables", "seldom", "numbered", "unsafe_sql"}
_READING_FIELDS = {each.name for each in dataclasses.fields(Options)} - _OF_THE_VERB

_STRICT = click.option(
    "--strict", is_flag=True, help="Exit code 3 when something that matters to the question could not be read."
)


def capture_options(
    until: tuple[str, ...] = ("--to", "--until"), strict: bool = True, beside: tuple[str, ...] = BESIDE
) -> Decorator:
    """Gives a command the options of reading and filtering; it gets them as one argument, `options`.

    `until` names the option for the end of a time range, for a command that has another use for `--to`. With `strict` there is
    `--strict`, which `exit_code` obeys. `beside` are those of BESIDE that it takes: a command that makes no tables of whole
    captures does without.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_options(**given: Any) -> Any:
            check_limits()
            if strict:
                del given["strict"]  # `exit_code` asks for it
            given["jobs"] = given["jobs"] or default_jobs()
            filters = Filters(**{name: given.pop(name) for name in _GLOBS}).between(
                given.pop("from_ns"), given.pop("to_ns")
            )
            _check_pipes([given.get("inputs") or given.get("sources") or (), *(given.get(name, ()) for name in beside)])
            reading = {name: given.pop(name) for name in _READING_FIELDS if name in beside or name not in BESIDE}
            options = Options(filters=filters, **reading)
            return function(options=options, **given)

        decorated: Callable[..., Any] = with_options
        files = zip(BESIDE, (_REQUEST_LOG, _NAMES), strict=True)
        after = (*(option for name, option in files if name in beside), *((_STRICT,) if strict else ()))
        for option in reversed((*_filters(until), *_READING, *after)):
            decorated = option(decorated)
        return decorated

    return decorate


def _check_pipes(given: Iterable[Iterable[str | Path]]) -> None:
    if sum(str(name) == "-" for names in given for name in names) > 1:
        raise click.UsageError("standard input can be read once: give - for one thing alone, and files for the others")


def captures(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument `inputs`: one or more captures."""

    def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]

    return click.argument("inputs", nargs=-1, required=True, metavar="CAPTURE...", shell_complete=files)(function)


def format_option(*formats: str) -> Decorator:
    """`--format`, the first one being the default."""
    text = f"{', '.join(formats[:-1])} or {formats[-1]}.  [default: {formats[0]}]"
    return click.option("--format", "form", type=click.Choice(formats), default=formats[0], metavar="FORMAT", help=text)


def limit_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--limit`: None when it was not given, 0 for no limit."""
    text = "At most N rows, 0 for all.  [default: 1000 in a table, else all]"
    return click.option("--limit", type=click.IntRange(min=0), metavar="N", help=text)(function)


def sort_option(verb: str, default: str | None = COST) -> Decorator:
    """`--sort`, which takes the words that SORTS has for this verb; what the words mean is in its help."""
    *words, last = (f"{word} ({meaning})" if meaning else word for word, meaning in SORTS[verb].items())
    text = f"Begin with the most of: {', '.join(words)} or {last}.  [default: {COST}]"
    return click.option("--sort", type=click.Choice([*SORTS[verb]]), default=default, metavar="BY", help=text)


@contextmanager
def opened(
    inputs: tuple[str, ...],
    options: Options,
    tables: tuple[str, ...] | None = REPORT_TABLES,
    *,
    asks: str | None,
    form: str,
    name: str = "",
) -> Iterator[Dataset]:
    """The dataset of the captures, its warnings said on stderr; of large tables, only those in `tables` (None: all).

    What could not be read comes first, for what the verb `asks` (a key of `query.readability.ASKS`; None: it says so itself):
    the first line where `form` is "table", else a line on stderr. `name` precedes it where there are several datasets.
    """
    from analyzer.base.memory import keep_freed_memory
    from analyzer.cli.interrupts import interruptible
    from analyzer.cli.progress import answering, progress
    from analyzer.run.local import open_dataset

    keep_freed_memory()
    say_when_uncompiled()
    with progress(inputs) as bar, open_dataset(inputs, dataclasses.replace(options, tables=tables), bar) as dataset:
        bar.clear()
        for line in dataset.warnings:
            say(line)
        with interruptible(dataset), answering(dataset):
            if asks is not None:
                tell_what_was_not_read(dataset, asks, form, name)
            yield dataset


_PARTLY = "analyzer.cli.read_in_part"


def tell_what_was_not_read(dataset: Dataset, asks: str, form: str, name: str = "") -> None:
    """Says in one line what could not be read, for a question; nothing where all could."""
    from analyzer.query.readability import WHOLE, readability

    verdict = readability(dataset, asks)
    if not verdict.reasons:
        return
    from analyzer.report.readability_words import sentence

    tell_first(f"{name}: {sentence(verdict)}" if name else sentence(verdict), form, verdict.verdict != WHOLE)


def tell_first(text: str, form: str, is_missing: bool = True) -> None:
    """What could not be read, before the answer: on stdout where the answer is text, else on stderr. `exit_code` knows of it where
    the answer misses it."""
    if is_missing:
        click.get_current_context().meta[_PARTLY] = True
    if form != "table":
        say(text)
        return
    from analyzer.cli.screen import screen
    from analyzer.report.terminal import print_verdict

    with screen() as console:
        print_verdict(text, console)


def exit_code(dataset: Dataset) -> int:
    """70 when a bug left something out; 2 when any input could not be read, or memory or disk left something out; 3 with --strict
    when something else that matters could not be read; else 0."""
    context = click.get_current_context()
    if dataset.bugs:
        return max(map(bug, dataset.bugs))
    if dataset.failed or dataset.left_out:
        return UNREADABLE
    return NOT_READ if context.params.get("strict") and context.meta.get(_PARTLY) else FINE


def say_when_uncompiled() -> None:
    """One line when the hot stages run as plain Python, because minutes instead of seconds want an explanation."""
    import dissectors.packet.packets as stage

    if (stage.__file__ or "").endswith(".py"):
        say(
            "running uncompiled, many times slower than with compiled stages: reinstall where a C compiler is available"
        )
