"""`kanalyze extract`: the packets of chosen connections as a capture of their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from analyzer.base.options import Options
from analyzer.base.outputs import Output, packed
from analyzer.base.text import printable
from analyzer.cli.common import capture_options, captures, exit_code, opened
from analyzer.cli.outcome import CHECK_FAILED, UNREADABLE, say
from analyzer.cli.target import (
    check_can_be_proved,
    key_option,
    no_capture_of,
    output,
    read_key,
    target_option,
    tell_not_proved,
    tell_redacted,
)
from analyzer.cli.values import Id, Partition, Span
from analyzer.report.format import size, things

if TYPE_CHECKING:
    from analyzer.extract.choice import Choice
    from analyzer.extract.copying import Copied
    from analyzer.query.dataset import Dataset


@dataclass(frozen=True)
class _Wanted:
    """What the options choose, and how it is written."""

    findings: tuple[int, ...]
    exchanges: tuple[int, ...]
    connections: tuple[int, ...]
    partitions: tuple[tuple[str, int], ...]
    around_ns: int | None
    comment: bool
    bare: bool


@click.command(short_help="The packets of a finding, an exchange or a client as a capture.")
@captures
@target_option(
    "What to write: NAME.pcapng, NAME.pcapng.gz or .zst, or with --redact NAME.zip; here or in object storage."
)
@click.option(
    "--finding",
    "findings",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="What the N-th of `kanalyze findings` names, with the same filters; may be repeated.",
)
@click.option("--exchange", "exchanges", type=Id(), multiple=True, metavar="ID", help="This exchange; may be repeated.")
@click.option(
    "--connection", "connections", type=Id(), multiple=True, metavar="ID", help="This connection; may be repeated."
)
@click.option(
    "--partition",
    "partitions",
    type=Partition(),
    multiple=True,
    metavar="TOPIC-N",
    help="What `kanalyze partition` lists of this partition, with the same filters; may be repeated.",
)
@click.option(
    "--around",
    "around_ns",
    type=Span(),
    metavar="TIME",
    help="Of the connections only so much before and after the exchanges, or what shows the findings: 2s.",
)
@click.option("--comment", is_flag=True, help="Say in packet comments what each message is, and what was found.")
@click.option(
    "--bare", is_flag=True, help="Leave out connections that name brokers and topics, or that a finding is judged by."
)
@click.option("--redact", "redacts", is_flag=True, help="Redact it, as `kanalyze redact --verify` does.")
@click.option(
    "--decrypt",
    "decrypts",
    is_flag=True,
    help="With --redact: of TLS connections with known keys the redacted content too, as `kanalyze redact --decrypt` does.",
)
@key_option
@capture_options(strict=False)
def command(
    inputs: tuple[str, ...],
    options: Options,
    out: str,
    redacts: bool,
    decrypts: bool,
    key_file: Path | None,
    **chosen: Any,
) -> int:
    """Write the packets of chosen connections to a pcapng file, for Wireshark, a bug report, or kanalyze itself.

    Chosen are the connections of findings, exchanges and connections by their numbers and ids, of the story of a partition, or of
    all exchanges that the filters leave. Connections are copied whole, so the extract read by itself gives the same ids, times
    and rows for them; only what other connections between the same hosts show about the network (broker time, travel time) may be
    missing. With --around they are cut, but for what names their brokers, topics, sessions and logins. Others are in it, unless
    --bare: one whose Metadata names their brokers and topics, and of findings as many as it takes for the extract alone to lead
    to the same ones: up to 16 MiB, and what it reads without the rest is said. Packets keep their bytes, times and interfaces.
    The file holds all that these packets hold, payloads and logins too, unless --redact: only its owner can read it.
    """
    from analyzer.messages.bodies import kept_standard_input

    wanted = _Wanted(**chosen)
    if not (wanted.findings or wanted.exchanges or wanted.connections or wanted.partitions or options.filters):
        what = "--finding, --exchange, --connection, --partition"
        raise click.UsageError(f"say what to extract: {what}, or a filter such as --client")
    if wanted.around_ns is not None and not (wanted.findings or wanted.exchanges or wanted.partitions):
        raise click.UsageError(
            "--around goes with --finding, --exchange or --partition; --from and --to are for other times"
        )
    if not redacts and (decrypts or key_file is not None or out.endswith(".zip")):
        raise click.UsageError("--decrypt, --key-file and NAME.zip go with --redact")
    if decrypts and wanted.around_ns is not None:
        raise click.UsageError("--decrypt needs whole connections: leave out --around, which cuts them")
    target = output(out, inputs, options, key_file)
    if redacts:
        check_can_be_proved(target)
    with (
        kept_standard_input(inputs, options) as rewind,
        opened(inputs, replace(options, seldom=True), None, asks="show", form="json") as dataset,
    ):
        choice = _choice(dataset, wanted, comment=wanted.comment and not redacts)
        if not choice.connections:
            say("nothing was extracted: no exchange matches")
            return UNREADABLE
        copying = _Copying(dataset, inputs, options, choice, rewind, no_capture_of(dataset, target))
        if redacts:
            return _write_redacted(copying, key_file, wanted.comment, decrypts) or exit_code(dataset)
        copying.tell(copying.write(copying.target.stream))
        return exit_code(dataset)


def _choice(dataset: Dataset, wanted: _Wanted, comment: bool) -> Choice:
    """What is wanted. Raises click.UsageError for what is not there."""
    from analyzer.extract import choice
    from analyzer.extract.surroundings import enough_for
    from analyzer.query.run_findings import find

    found = find(dataset) if wanted.findings or comment else []
    if wanted.findings and max(wanted.findings) > len(found):
        raise click.UsageError(f"there is no finding {max(wanted.findings)}: `kanalyze findings` lists {len(found)}")
    chosen = [found[number - 1] for number in wanted.findings]
    try:
        ids = choice.of_findings(dataset, chosen)
        exchanges = (*wanted.exchanges, *choice.in_partitions(dataset, wanted.partitions))
        ids |= choice.of_exchanges(dataset, exchanges) | choice.of_connections(dataset, wanted.connections)
    except choice.ChoiceError as problem:
        raise click.UsageError(str(problem)) from problem
    if not (wanted.findings or wanted.exchanges or wanted.connections or wanted.partitions):
        ids = choice.of_filters(dataset)
    if not wanted.bare:
        ids |= choice.that_name_things(dataset, ids)
        if chosen and wanted.around_ns is None:
            named, enough = ids, enough_for(dataset, ids, chosen, found)
            ids = enough.connections
            if more := len(ids - named):
                say(
                    f"{things(more, 'further connection')} included because the finding compares with them (--bare omits them)"
                )
            for number, alone in zip(wanted.findings, enough.alone, strict=False):
                say(_what_is_left_out(number, alone))
    made = choice.Choice(ids)
    if wanted.around_ns is not None:
        made.windows = choice.windows_around(dataset, chosen, exchanges, wanted.around_ns) or None
        made.names = not wanted.bare
    choice.add_spans(dataset, made)
    if comment:
        choice.add_comments(dataset, made, list(enumerate(found, 1)))
    return made


def _what_is_left_out(number: int, alone: str | None) -> str:
    """What the extract does not show of a finding that is judged by more than is copied."""
    reads = "does not lead to it" if alone is None else f'reads "{printable(alone)}"'
    return (
        f"finding {number} counts more connections than a cut should hold: alone the extract {reads} "
        "(--client, --broker or --topic take all)"
    )


@dataclass(frozen=True)
class _Copying:
    """The second pass over the captures."""

    dataset: Dataset
    inputs: tuple[str, ...]
    options: Options
    choice: Choice
    rewind: Callable[[], object]
    target: Output

    def write(self, opened: Callable[[], AbstractContextManager[BinaryIO]]) -> Copied:
        """Writes the chosen packets to a stream, which is opened anew where the first look did not find all of them."""
        from analyzer.cli.progress import progress
        from analyzer.extract.copying import FragmentsMet, copy
        from analyzer.extract.pcapng_file import PcapngFile
        from analyzer.messages.bodies import captures_again

        self.rewind()
        sources = captures_again(self.dataset, self.inputs)
        with_fragments: set[int] = set()
        while True:
            self.rewind()
            try:
                with progress(self.inputs) as bar, opened() as sink:
                    return copy(sources, self.choice, with_fragments, self.options.decode_as, PcapngFile(sink), bar)
            except FragmentsMet as met:
                with_fragments.add(met.file)

    def tell(self, done: Copied) -> None:
        left_out = f"; {done.without_time:,} more have no time and were left out" if done.without_time else ""
        say(
            f"{self.target}: {things(done.packets, 'packet')} ({size(done.bytes)}) of "
            f"{things(len(self.choice.connections), 'connection')}{left_out}"
        )


def _write_redacted(copying: _Copying, key_file: Path | None, comment: bool, decrypts: bool) -> int:
    """Writes the chosen packets, redacted and proved; returns 0 when that went well."""
    from analyzer.base import temp_folders
    from analyzer.redact import bug_report
    from analyzer.redact.redaction_run import NotProved

    key = read_key(key_file)
    folder = temp_folders.make(copying.options.temp_dir)
    try:
        chosen = folder / "chosen.pcapng"
        copying.write(lambda: packed(chosen, ""))
        done = bug_report.make(chosen, folder, copying.target, copying.options, key, comment, decrypts)
    except NotProved as problem:
        tell_not_proved(problem)
        return CHECK_FAILED
    finally:
        temp_folders.remove(folder)
    tell_redacted(copying.target, done, True)
    return 0
