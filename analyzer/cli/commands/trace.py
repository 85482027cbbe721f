"""`kanalyze trace`: a timeline for Perfetto."""

from __future__ import annotations

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, opened
from analyzer.cli.outcome import UNREADABLE, say
from analyzer.cli.target import no_capture_of, output, target_option


@click.command(short_help="A timeline of requests for Perfetto.")
@captures
@target_option("The file to write: NAME.perfetto.")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, out: str) -> int:
    """Write a timeline of requests and their parts, to be opened at ui.perfetto.dev or by trace_processor.

    A track for each client, below it one for each connection; each request is a slice, in it the time that it took to send, waited
    in a queue and for a throttle, was at the broker, on the network, and took to receive. Arrows lead from a batch to the Fetch
    that delivered it. At most 200,000 requests: more is more than a browser holds, so choose with filters.
    """
    from analyzer.timeline.request_tracks import TooMany, packets

    target = output(out, inputs, options, private=False)
    with opened(inputs, options, None, asks="latency", form="perfetto") as dataset:
        target = no_capture_of(dataset, target)
        pieces = packets(dataset)
        try:
            first = next(pieces)
        except TooMany as error:
            say(str(error))
            return UNREADABLE
        with target.stream() as file:
            file.write(first)
            file.writelines(pieces)
        return exit_code(dataset)
