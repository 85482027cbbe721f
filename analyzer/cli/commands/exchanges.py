"""`kanalyze exchanges`: the requests with their replies, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, format_option, limit_option, opened

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

_ORDER = "order by status = 'orphan_reply', coalesce(request_time_ns, response_time_ns), exchange"
_COLUMNS = (
    "exchange, request_time_ns, response_time_ns, client_id, client_address, client_port, api_name, api_version, "
    "status, kind, error_code, throttle_time_ms, total_ns, broker_address, broker_port, request_bytes, response_bytes, "
    "request_packet, response_packet, request_file, response_file"
)


@click.command()
@captures
@limit_option
@format_option("table", "json", "jsonl", "csv")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, limit: int | None, form: str) -> int:
    """List requests with their replies, in order of time. Replies without a request come last.

    The table shows the columns that fit a screen; the other formats have every column. `kanalyze show` takes the id of an
    exchange (16 hex digits).
    """
    with opened(inputs, options, asks="everything", form=form) as dataset:
        if form == "table":
            _print_table(dataset, limit)
        else:
            from analyzer.cli.row_output import print_rows

            print_rows(dataset, f"select * from exchanges {_ORDER}", form, limit)
        return exit_code(dataset)


def _print_table(dataset: Dataset, limit: int | None) -> None:
    from analyzer.cli.table import TABLE_ROWS, print_table, say_when_cut
    from analyzer.report.text_tables import Column

    limit = TABLE_ROWS if limit is None else limit
    rows = dataset.query(f"select {_COLUMNS} from exchanges {_ORDER}" + (f" limit {limit + 1}" if limit else ""))
    if not rows:
        _print_what_there_is(dataset)
        return
    columns = [
        Column("exchange"),
        Column("time (UTC)"),
        Column("client", least=11),
        Column("request", least=14),
        Column("took", right=True),
        Column("outcome", least=13),
        Column("broker", spare=1),
        Column("packets", right=True, spare=2),
        Column("sent", right=True, spare=3),
        Column("received", right=True, spare=4),
    ]
    cells = _cells(rows[:limit] if limit else rows)
    files = {row["file"]: row["path"] for row in dataset.query("select file, path from captures")}
    if len(files) > 1:
        # A number of a packet is that of its file.
        columns.append(Column("file", least=14, spare=2))
        cells = [[*line, _file(row, files)] for line, row in zip(cells, rows, strict=False)]
    print_table(columns, cells)
    say_when_cut(len(rows), limit)


def _print_what_there_is(dataset: Dataset) -> None:
    """The names that could have been asked for, below the sentence that nothing matches."""
    from analyzer.cli.screen import screen
    from analyzer.report.facts import Facts
    from analyzer.report.sections import nothing

    with screen() as console:
        for line in nothing.render(Facts(dataset), console.width, None):
            console.print(line, soft_wrap=True)


def _cells(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Cells of the table; the date is left out when all rows are of one day."""
    from analyzer.base.text import exchange_id
    from analyzer.report.format import client, duration, endpoint, moment, safe, size

    times = [moment(row["request_time_ns"] or row["response_time_ns"], 3) for row in rows]
    one_day = len({time[:10] for time in times}) < 2
    return [
        [
            exchange_id(row["exchange"]),
            time[11:] if one_day else time,
            client(row),
            _request(row),
            duration(row["total_ns"]),
            _outcome(row),
            endpoint(safe(row["broker_address"]), row["broker_port"]),
            " > ".join("-" if row[name] is None else str(row[name]) for name in ("request_packet", "response_packet")),
            size(row["request_bytes"]),
            size(row["response_bytes"]),
        ]
        for row, time in zip(rows, times, strict=True)
    ]


def _file(row: dict[str, Any], files: dict[int, str]) -> str:
    """The file of the request, and that of the reply where it is another one."""
    from analyzer.report.format import safe

    found = [row[name] for name in ("request_file", "response_file") if row[name] is not None]
    return " > ".join(safe(files[file].rsplit("/", 1)[-1]) for file in dict.fromkeys(found))


def _request(row: dict[str, Any]) -> str:
    if row["status"] == "orphan_reply":
        return "a reply without a request"
    if row["api_name"] is None:
        return "-"
    from analyzer.base.wait_kinds import kind_of

    api, words = f"{row['api_name']} v{row['api_version']}", kind_of(row["kind"]).words
    return f"{api}, {words}" if words else api


def _outcome(row: dict[str, Any]) -> str:
    from analyzer.report.format import milliseconds
    from dissectors.kafka.schema.error_codes import error_code

    words = ["request not seen" if row["status"] == "orphan_reply" else row["status"].replace("_", " ")]
    if row["error_code"]:
        words.append(error_code(row["error_code"]).name)
    if row["throttle_time_ms"]:
        words.append(f"throttled {milliseconds(row['throttle_time_ms'])}")
    return ", ".join(words)
