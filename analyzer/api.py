"""The Python API: captures as tables, metrics and findings, for notebooks and programs.

    import kanalyze

    with kanalyze.read("capture.pcap") as cap:
        cap.exchanges.to_pandas()
        cap.sql("select client_id, count(*) as n from exchanges group by all").to_polars()
        cap.latency(by=["api", "client"]).to_pandas()
        cap.findings

Tables, metrics and answers are frames (`analyzer.notebook.frame`), which pandas, Polars and Arrow take; their columns are those of
docs/tables.md, and null means not known. An argument of a wrong type is a TypeError, a wrong value a ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES
from analyzer.notebook import arguments
from analyzer.notebook.finding_list import Findings
from analyzer.notebook.frame import Frame
from analyzer.notebook.shown_text import Text
from analyzer.query.questions import NEWEST_RELEASE, PARTS, RELEASES, narrowed
from analyzer.report.format import safe

if TYPE_CHECKING:
    from analyzer.notebook.comparison_frames import CheckResults, Differences
    from analyzer.query.dataset import Dataset

    Path = str | PathLike[str]
    Words = str | Iterable[str]


def read(
    inputs: Path | Sequence[Path],
    *,
    client: Words = (),
    broker: Words = (),
    api: Words = (),
    topic: Words = (),
    namespace: Words = (),
    zone: Words = (),
    from_ns: int | str | None = None,
    to_ns: int | str | None = None,
    **options: Any,
) -> Capture:
    """Reads captures (paths, globs, directories, URIs), or exported datasets, into tables.

    The filters are those of the command line: globs, one or several. `from_ns` (included) and `to_ns` (not included)
    bound the time, ns since the epoch, or as they are printed: "22:46:20", "22:46", "+10s" after the first packet, "-30s" before
    the last. `options` are fields of `analyzer.base.options.Options`, such as `ports=(19092,)`.
    Raises `analyzer.inputs.sources.InputError` (an OSError) when nothing could be read,
    `analyzer.query.dataset.DatasetError` for a directory that is no dataset, TypeError and ValueError for an argument that is
    none. `Capture.warnings` has all else that could not be read.
    """
    from analyzer.run.local import open_dataset

    paths = [str(path) for path in arguments.inputs(inputs)]
    filters = Filters(
        arguments.names(client, "client"),
        arguments.names(broker, "broker"),
        arguments.names(api, "api"),
        arguments.names(topic, "topic"),
        namespaces=arguments.names(namespace, "namespace"),
        zones=arguments.names(zone, "zone"),
    ).between(
        arguments.or_none(arguments.moment, from_ns, "from_ns"), arguments.or_none(arguments.moment, to_ns, "to_ns")
    )
    asked = arguments.options(filters, options)
    return Capture(paths, asked, open_dataset(paths, asked))


class _Table:
    """A table of `analyzer.base.tables` as an attribute: a frame, narrowed by the filters."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.__doc__ = f"The table `{name}`: {', '.join(column.name for column in TABLES[name])}."

    def __get__(self, capture: Capture | None, owner: type) -> Any:
        if capture is None:
            return self
        return Frame(capture._dataset.arrow(f"SELECT * FROM {self.name}"))


class Capture:
    """Captures that were read. Leaving it as a context manager, or `close`, removes its temporary files."""

    captures = _Table()
    connections = _Table()
    exchanges = _Table()
    entries = _Table()
    errors = _Table()
    problems = _Table()
    queued_packets = _Table()
    unread_silences = _Table()
    log_requests = _Table()
    fetch_positions = _Table()
    mutes = _Table()
    batches = _Table()
    group_events = _Table()
    assignments = _Table()
    transaction_events = _Table()
    broker_events = _Table()
    logins = _Table()
    topic_ids = _Table()
    brokers = _Table()
    offered_versions = _Table()
    forwards = _Table()

    def __init__(self, inputs: Sequence[str], options: Options, dataset: Dataset) -> None:
        self._inputs = inputs
        self._options = options
        self._dataset = dataset

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read, a line each; empty when all was well."""
        return self._dataset.warnings

    @property
    def readable(self) -> dict[str, Any]:
        """What could not be read: `verdict` is "whole", "partly" or "nothing", `sentence` says why (None: whole), `reasons` are its
        keywords (`analyzer.query.readability.Reason`)."""
        from analyzer.query.readability import readability
        from analyzer.report.readability_words import as_object

        return as_object(readability(self._dataset))

    @property
    def findings(self) -> Findings:
        """What needs attention, the worst first."""
        from analyzer.query.run_findings import find

        return Findings(find(self._dataset))

    def sql(self, query: str) -> Frame:
        """The rows of a SELECT over the tables (DuckDB's SQL); moments are there as TIMESTAMP, too (docs/tables.md), and keys are
        compared with 16 hex digits, too (`where exchange = '00c3...'`). Raises `analyzer.query.dataset.DatasetError`.

        They read the tables and nothing else; files of this machine, too, when the capture was read with `unsafe_sql=True`. In the
        frame a column of ns is a timestamp or a duration when it has the name of a documented column.
        """
        from analyzer.query.documented import documented_arrow

        return Frame(documented_arrow(self._dataset, arguments.text(query, "query")), is_ours=False)

    def metric(self, name: str, by: Words = (), every_ns: int | None = None) -> Frame:
        """The rows of a file of `analyzer/query/metrics`: `by` groups (see `analyzer.base.settings.DIMENSIONS`), one name or
        several; `every_ns` cuts the time into slots. An unknown name is a KeyError, an unknown dimension a ValueError.
        """
        from analyzer.query.metrics import text

        every = arguments.or_none(arguments.whole, every_ns, "every_ns")
        self._dataset.choose(Settings(arguments.names(by, "by"), every))
        try:
            return Frame(self._dataset.arrow(text(arguments.text(name, "name"))))
        finally:
            self._dataset.choose(Settings())

    def latency(self, by: Words = (), every_ns: int | None = None) -> Frame:
        """Latency by API and kind of wait, or by other dimensions, over time when `every_ns` is given."""
        return self.metric("latency", by, every_ns)

    def throttle(self, by: Words = (), every_ns: int | None = None) -> Frame:
        """Who is throttled, how long, how much of its time."""
        return self.metric("throttle", by, every_ns)

    def groups(self, part: str = "groups", group: Words = ()) -> Frame:
        """Groups, or another `part`: rebalances, members, timeline; of the groups whose ids match a glob of `group`, or of all.

        An unknown part is a ValueError; so it is in the methods that follow.
        """
        return self._part("groups", part, group_id=arguments.names(group, "group"))

    def topics(self, part: str = "topics") -> Frame:
        """Topics, or another `part`: producers, consumers, partitions, lag, delivery."""
        return self._part("topics", part)

    def transactions(self, part: str = "transactions") -> Frame:
        """Transactions by transactional id, or another `part`: list (each transaction), producers."""
        return self._part("transactions", part)

    def readiness(self, broker_version: str = NEWEST_RELEASE) -> Frame:
        """Will the clients work with that release of Kafka? A row per client, API and version. A release that is not one of
        `analyzer.query.questions.RELEASES` is a ValueError.
        """
        release = arguments.one_of(broker_version, RELEASES, "broker_version")
        return self._part("readiness", "clients", release=(release,))

    def _part(self, question: str, part: str, **wanted: Sequence[str]) -> Frame:
        parts = PARTS[question]
        return Frame(self._dataset.arrow(narrowed(parts[arguments.one_of(part, parts, "part")], wanted)))

    def diff(self, after: Capture) -> Differences:
        """What changed from this capture to `after`: another one, or the same dataset at another time. ValueError when the two were
        read with different filters but for `from_ns` and `to_ns`."""
        from analyzer.notebook.comparison_frames import differences

        if not isinstance(after, Capture):
            raise TypeError(f"after: expected what `analyzer.read` returned, got {after!r}")
        mine, other = (each._options.filters.between(None, None) for each in (self, after))
        if mine != other:
            raise ValueError("after: was read with other filters, so the two cannot be compared")
        return differences(self._dataset, after._dataset)

    def check(self, rules: Path) -> CheckResults:
        """Holds the capture against the limits of a TOML file (`kanalyze check --rules`). Raises
        `analyzer.compare.checks.CheckError` (a ValueError) for a file that is no list of checks, OSError.
        """
        from analyzer.notebook.comparison_frames import check_results

        return check_results(self._dataset, arguments.path(rules, "rules"))

    def show(self, exchange: int | str, records: bool = False) -> Text:
        """Both messages of an exchange as trees, and where the time went: by its id (a number of the table, or 16 hex digits) or
        any packet of a message (`"#1234"`, with several captures `"FILE:1234"`); with `records` each record of each batch.
        Secrets are not shown. Raises KeyError when there is no such exchange, ValueError for another word.
        """
        from analyzer.messages.bodies import each_message
        from analyzer.messages.exchange_text import context, lines, matching

        word = exchange if isinstance(exchange, str) else f"{arguments.whole(exchange, 'exchange'):016x}"
        found = matching(self._dataset, self._inputs, self._options, word)
        if not found:
            raise KeyError(f"no exchange {word}")
        about = context(self._dataset, found)
        shown: list[str] = []

        def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
            shown.extend(lines(about, row, request, response, records))

        each_message(self._dataset, self._inputs, self._options, take, found)
        return Text("\n".join(shown))

    def report(self, width: int = 120) -> Text:
        """The report that `kanalyze CAPTURE` prints."""
        from io import StringIO

        from rich.console import Console

        from analyzer.report.facts import facts_of_report
        from analyzer.report.terminal import print_report, print_verdict

        console = Console(
            file=StringIO(), width=arguments.whole(width, "width", 20), color_system=None, force_terminal=False
        )
        if unread := self.readable["sentence"]:
            print_verdict(unread, console)
        with facts_of_report(self._dataset) as facts:
            print_report(facts, console)
        file = console.file
        assert isinstance(file, StringIO)
        return Text(file.getvalue())

    def html(self) -> str:
        """The page that `kanalyze html` writes: one HTML document that needs nothing else. Trees of the slowest requests are in it
        where the captures are at hand."""
        from analyzer.page.document import document
        from analyzer.page.page_data import page_data
        from analyzer.page.slowest_trees import slowest_trees

        made = page_data(
            self._dataset, lambda wanted: slowest_trees(self._dataset, self._inputs, self._options, wanted)
        )
        return document(made)

    def close(self) -> None:
        """Frees the tables; a second call does nothing."""
        self._dataset.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<analyzer.Capture of {safe(', '.join(self._inputs))}>"

    def _repr_html_(self) -> str:
        return self.report(100)._repr_html_()
