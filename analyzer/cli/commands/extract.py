"""`kanalyze extract`: the packets of chosen connections as a capture of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from analyzer.base.options import Options
from analyzer.base.text import file_text
from analyzer.cli.common import capture_options, captures, exit_code, opened
from analyzer.cli.outcome import UNREADABLE, say
from analyzer.cli.target import check_directory, check_no_input, target_option
from analyzer.cli.values import Id
from analyzer.report.format import size, things

if TYPE_CHECKING:
    from analyzer.extract.choice import Choice
    from analyzer.query.dataset import Dataset


@click.command(short_help="The packets of a finding, an exchange or a client as a capture.")
@captures
@target_option("The capture to write: NAME.pcapng, NAME.pcapng.gz or NAME.pcapng.zst, here or in object storage.")
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
@click.option("--comment", is_flag=True, help="Say in packet comments what each message is, and what was found.")
@click.option("--bare", is_flag=True, help="Leave out the connections that name brokers and topics.")
@capture_options(strict=False)
def command(
    inputs: tuple[str, ...],
    options: Options,
    out: str,
    findings: tuple[int, ...],
    exchanges: tuple[int, ...],
    connections: tuple[int, ...],
    comment: bool,
    bare: bool,
) -> int:
    """Write the packets of chosen connections to a pcapng file, for Wireshark, a bug report, or kanalyze itself.

    Chosen are the connections of findings, exchanges and connections by their numbers and ids, or of all exchanges that the filters
    leave. Connections are copied whole, so the extract read by itself gives the same ids, times and rows for them; only what other
    connections between the same hosts tell of the network (broker time, travel time) may be missing. A connection whose Metadata
    names their brokers and topics comes along, unless --bare. Packets keep their bytes, times and interfaces. The file holds
    all that these packets hold, payloads and logins too: only its owner can read it.

    \b
    kanalyze extract broker1.pcap --finding 1 --comment -o finding.pcapng
    kanalyze extract captures/ --client 'orders-*' --from 11:20 -o orders.pcapng.zst
    """
    from analyzer.messages.bodies import kept_standard_input

    if not (findings or exchanges or connections or options.filters):
        raise click.UsageError("say what to extract: --finding, --exchange, --connection, or a filter such as --client")
    check_directory(out)
    with (
        kept_standard_input(inputs, options) as rewind,
        opened(inputs, replace(options, seldom=True), None, asks="show", form="json") as dataset,
    ):
        choice = _choice(dataset, findings, exchanges, connections, comment, bare)
        if not choice.connections:
            say("nothing was extracted: no exchange matches")
            return UNREADABLE
        _write(dataset, inputs, options, choice, out, rewind)
        return exit_code(dataset)


def _choice(
    dataset: Dataset,
    findings: tuple[int, ...],
    exchanges: tuple[int, ...],
    connections: tuple[int, ...],
    comment: bool,
    bare: bool,
) -> Choice:
    """What is wanted. Raises click.UsageError for what is not there."""
    from analyzer.extract import choice
    from analyzer.query.run_findings import find

    found = find(dataset) if findings or comment else []
    if findings and max(findings) > len(found):
        raise click.UsageError(f"there is no finding {max(findings)}: `kanalyze findings` lists {len(found)}")
    try:
        wanted = choice.of_findings(dataset, [found[number - 1] for number in findings])
        wanted |= choice.of_exchanges(dataset, exchanges) | choice.of_connections(dataset, connections)
    except choice.ChoiceError as problem:
        raise click.UsageError(str(problem)) from problem
    if not (findings or exchanges or connections):
        wanted = choice.of_filters(dataset)
    made = choice.Choice(wanted if bare else wanted | choice.that_name_things(dataset, wanted))
    choice.add_spans(dataset, made)
    if comment:
        choice.add_comments(dataset, made, list(enumerate(found, 1)))
    return made


def _write(
    dataset: Dataset, inputs: tuple[str, ...], options: Options, choice: Choice, out: str, rewind: Callable[[], object]
) -> None:
    from analyzer.cli.progress import progress
    from analyzer.extract.copying import FragmentsMet, copy
    from analyzer.extract.output import written
    from analyzer.extract.pcapng_file import PcapngFile
    from analyzer.messages.bodies import captures_again

    rewind()
    sources = captures_again(dataset, inputs)
    check_no_input(out, sources)
    with_fragments: set[int] = set()
    while True:
        rewind()
        try:
            with progress(inputs) as bar, written(out, options.temp_dir) as sink:
                done = copy(sources, choice, with_fragments, options.decode_as, PcapngFile(sink), bar)
            break
        except FragmentsMet as met:
            with_fragments.add(met.file)
    left_out = f"; {done.without_time:,} more have no time and were left out" if done.without_time else ""
    say(
        f"{file_text(out)}: {things(done.packets, 'packet')} ({size(done.bytes)}) of "
        f"{things(len(choice.connections), 'connection')}{left_out}"
    )
