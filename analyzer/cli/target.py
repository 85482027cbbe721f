"""Where a verb writes: the option, what may be there, and what is said in the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.outputs import PRIVATE, PUBLIC, STANDARD_OUTPUT, Inputs, Output, RefusedError
from analyzer.base.storage.addresses import is_storage_uri
from analyzer.base.text import file_names
from analyzer.cli.outcome import say
from analyzer.report.format import size, things

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset
    from analyzer.redact.redaction_run import Done, NotProved

STANDARD_INPUT = "-"


def target_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`-o`, which gives the argument `out`."""
    return click.option("-o", "--out", required=True, metavar="FILE", help=f"{help_text} `-` is standard output.")


def key_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--key-file`, which gives the argument `key_file`."""
    return click.option(
        "--key-file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="The key of pseudonyms, so that all captures get the same ones; made when there is none.  [default: a key for once]",
    )(function)


def read_key(path: Path | None) -> bytes:
    """The key of `--key-file`. Raises click.UsageError."""
    from analyzer.redact.key_files import KeyFileError, key_of

    try:
        return key_of(path)
    except KeyFileError as problem:
        raise click.UsageError(str(problem)) from problem


def output(
    out: str, inputs: Sequence[str], options: Options, *others: Path | None, private: bool = True, is_text: bool = False
) -> Output:
    """Where `-o` says to write, which is none of the inputs, key logs and `others`. Raises click.UsageError."""
    if out == STANDARD_OUTPUT and not is_text and sys.stdout.isatty():
        raise click.UsageError("this is no text for a terminal: redirect standard output, or name a file")
    read = Inputs()
    # What is not there yet is no input.
    if is_storage_uri(out) or out == STANDARD_OUTPUT or os.path.exists(out):  # noqa: PTH110 (names of any bytes)
        read = _read(inputs, options, others, stored=is_storage_uri(out))
    made = Output(out, read, PRIVATE if private else PUBLIC, options.temp_dir)
    with refusals():
        made.check()
    return made


def _read(inputs: Sequence[str], options: Options, others: Iterable[Path | None], stored: bool) -> Inputs:
    """What a run reads, here or in storage: the inputs as they were named, and the captures that they name."""
    from analyzer.inputs.expansion import expand

    named = [each for each in inputs if is_storage_uri(each) == stored or each.lower().startswith("file:")]
    sources = expand(named).sources
    found = [source.uri or source.path for source in sources]
    words = [each for each in named if not each.lower().startswith("file:") and (stored or not _is_plain_folder(each))]
    read = Inputs.of(
        filter(None, (*words, *found, *options.tls_key_logs, *options.request_logs, *options.names, *others))
    )
    return read.with_descriptor(0) if STANDARD_INPUT in inputs else read


def _is_plain_folder(name: str) -> bool:
    """Whether it is a directory of captures, in which others may be written, and no dataset."""
    from analyzer.query.exported import is_dataset

    return os.path.isdir(name) and not is_dataset(name)  # noqa: PTH112 (names of any bytes)


def no_capture_of(dataset: Dataset, target: Output) -> Output:
    """The output, which is no capture either that an export was made of. Raises click.UsageError."""
    paths = [str(row["path"]) for row in dataset.query("SELECT path FROM all_captures")]
    with refusals():
        return target.but_not(name for path in paths for name in file_names(path) if not is_storage_uri(name))


@contextmanager
def refusals() -> Iterator[None]:
    """What an output refuses is a mistake in the command line."""
    try:
        yield
    except RefusedError as refused:
        raise click.UsageError(str(refused)) from refused


def check_can_be_proved(target: Output) -> None:
    """Raises click.UsageError for what cannot be read again."""
    if not target.is_kept:
        raise click.UsageError(f"{target}: what is proved is read back, which cannot be done there: name a file")


def tell_page(target: Output, size_bytes: int) -> None:
    """What was written, where that is not what is read."""
    if target.is_kept:
        say(f"{target}: {size_bytes / 1e6:.1f} MB")


def tell_redacted(target: Output, done: Done, verified: bool) -> None:
    """What was written, in a line or two."""
    from analyzer.redact.streams import MOST_SILENT

    counts = done.counts
    for line in done.failures:
        say(line)
    left_out = f"; {counts.without_time:,} more have no time and were left out" if counts.without_time else ""
    say(
        f"{target}: {things(counts.packets, 'packet')} ({size(counts.packet_bytes)}), "
        f"{things(counts.messages, 'message')} redacted{left_out}"
    )
    told = done.manifest.get("decrypted")
    if told:
        say(
            f"{things(told['connections'], 'TLS connection')} decrypted ({size(told['content_bytes'])} of content): sizes and "
            "sequence numbers are those of the content; packets of handshakes stay, without payload"
        )
        if told["packets_left_out"]:
            say(
                f"{things(told['packets_left_out'], 'packet')} (IP fragments, unknown headers) could not be decrypted, left out"
            )
        if counts.tls_records:
            say(
                f"{things(counts.tls_records, 'TLS record')} of other connections could not be decrypted, and have no content"
            )
    if counts.opaque_batches:
        say(f"{things(counts.opaque_batches, 'compressed batch', 'compressed batches')} became zeros as a whole")
    if counts.damaged_messages:
        say(f"{things(counts.damaged_messages, 'damaged message')} became zeros but for the ids")
    if counts.forgotten_beginnings:
        say(
            f"of {things(counts.forgotten_beginnings, 'stream')} the first byte came more than {MOST_SILENT:,} attempts of others "
            "after the SYN: what stood at the beginning (a PROXY header, a TLS hello, an unfinished message) became zeros"
        )
    if verified:
        say("verified: every byte kept is on the allow list, and no name or value was found")


def tell_not_proved(problem: NotProved) -> None:
    """What verification found."""
    for line in problem.problems:
        say(f"not proved: {line}")
    say("nothing was written")
