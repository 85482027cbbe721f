"""`kanalyze partition`: what happened to one partition, in the order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, exit_code, format_option, limit_option, opened
from analyzer.cli.outcome import UNREADABLE, say
from analyzer.cli.values import USAGE, Partition

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

_TABLES = (
    "exchanges",
    "entries",
    "errors",
    "batches",
    "transaction_events",
    "broker_events",
    "assignments",
    "fetch_positions",
)


@click.command(short_help="What happened to one partition, in the order of time.")
@click.argument("inputs", nargs=-1, metavar="CAPTURE...")
@click.argument("partition", type=Partition(), metavar="TOPIC-N")
@limit_option
@format_option("table", "json", "jsonl", "csv")
@capture_options()
def command(inputs: tuple[str, ...], partition: tuple[str, int], options: Options, limit: int | None, form: str) -> int:
    """Print the story of partition N of a topic (name or id): batches with their producers, sequences and offsets, fetches,
    commits, transactions, assignments; gaps, repeats, what is out of order, moves of the leader and of the end.

    Each line names the exchange and its packets. Of more than 3 alike events the table has one line, until their client does
    something else or anything odd happens; the other formats have every event and every batch. docs/guides/partition.md says what
    each mark means.
    """
    from analyzer.base.settings import Settings
    from analyzer.query.metrics import text
    from analyzer.query.readability import NOTHING, has_no_answer, readability
    from analyzer.report.known_partitions import Unknown, check

    if not inputs:
        raise click.UsageError(f"CAPTURE is missing: {USAGE}")
    with opened(inputs, options, _TABLES, asks="partition", form=form) as dataset:
        # Where nothing could be read nobody knows what is there; that has been said.
        told = readability(dataset, "partition")
        if has_no_answer(told):
            return exit_code(dataset)
        if told.verdict != NOTHING:
            try:
                check(dataset, partition)
            except Unknown as problem:
                say(str(problem))
                return UNREADABLE
        dataset.choose(Settings(partition=partition))
        if form == "table":
            _print_table(dataset, limit)
        else:
            from analyzer.cli.row_output import print_rows

            print_rows(dataset, dataset.settings.folded(text("partition_story")), form, limit)
        return exit_code(dataset)


def _print_table(dataset: Dataset, limit: int | None) -> None:
    """The story in each cluster that has such a partition. Of a long one the begin, the end and what is odd, which is said."""
    from itertools import chain, groupby

    from rich.text import Text

    from analyzer.cli.screen import screen
    from analyzer.cli.table import TABLE_ROWS, say_when_cut
    from analyzer.report.format import safe
    from analyzer.report.partition_answer import EDGE, Story
    from analyzer.report.partition_lines import lines
    from analyzer.report.terminal import print_lines

    most = TABLE_ROWS if limit is None else limit
    _, portions = dataset.metric_in_portions("partition_story")
    found = groupby(chain.from_iterable(portions), lambda row: (row["cluster"], row["topic"], row["partition"]))
    stories = [(key, Story(events)) for key, events in found]
    longest = 0

    def render(width: int) -> list[Text]:
        nonlocal longest
        printed: list[Text] = []
        for (cluster, topic, number), story in stories:
            where = f" in cluster {safe(cluster)}" if len(stories) > 1 else ""
            told, total = lines(f"{safe(topic)}-{number}{where}", story, width, most or None)
            printed += [*([Text("")] if printed else []), *told]
            longest = max(longest, total)
        return printed

    with screen() as console:
        print_lines(console, render)
    for _, story in stories:
        if not story.is_whole:
            say(
                f"{story.total:,} events; shown are the first and the last {EDGE} and as many odd ones between: narrow them with "
                "--from, --to or --client; --format csv or jsonl streams all"
            )
    say_when_cut(longest, most)
