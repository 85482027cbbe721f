"""`kanalyze html`: the report as one HTML file."""

from __future__ import annotations

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, opened
from analyzer.cli.target import no_capture_of, output, target_option, tell_page


@click.command(short_help="The report as one HTML file, with charts.")
@captures
@target_option("The file to write.")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, out: str) -> int:
    """Write the report as one HTML file: what is wrong, charts over one time axis, tables, the slowest requests.

    The file needs nothing else: it opens from disk, asks for nothing, and can be mailed. Drag over a chart to narrow all
    below to that time; the link in the address then holds that time and the filters of tables. Each section names the
    command that prints its numbers.
    """
    from analyzer.messages.bodies import kept_standard_input
    from analyzer.page.document import document
    from analyzer.page.page_data import page_data
    from analyzer.page.slowest_trees import slowest_trees

    target = output(out, inputs, options, private=False, is_text=True)
    with (
        kept_standard_input(inputs, options) as rewind,
        opened(inputs, options, None, asks="everything", form="html") as dataset,
    ):
        rewind()

        def trees(wanted: list[int]) -> dict[int, list[str]]:
            with dataset.asking("the slowest requests"):
                return slowest_trees(dataset, inputs, options, wanted)

        target = no_capture_of(dataset, target)
        made = document(page_data(dataset, trees)).encode()
        with target.stream() as sink:
            sink.write(made)
        tell_page(target, len(made))
        return exit_code(dataset)
