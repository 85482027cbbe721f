"""Where a verb writes a capture: the option, what may stand there, and what is said in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.storage.addresses import is_storage_uri
from analyzer.base.text import file_text
from analyzer.cli.outcome import say
from analyzer.report.format import size, things

if TYPE_CHECKING:
    from analyzer.inputs.sources import Source
    from analyzer.redact.redaction_run import Done, NotProved


def target_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`-o`, which gives the argument `out`."""
    return click.option("-o", "--out", required=True, metavar="FILE", help=help_text)


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


def check_directory(out: str) -> None:
    """Raises click.UsageError for a file that cannot be there."""
    if is_storage_uri(out):
        return
    path = Path(out)
    if not path.absolute().parent.is_dir():
        raise click.UsageError(f"{out}: there is no such directory")
    if path.is_dir():
        raise click.UsageError(f"{out}: is a directory; name a file")


def check_no_input(out: str, sources: Sequence[Source]) -> None:
    """Raises click.UsageError when a capture would be overwritten."""
    path = None if is_storage_uri(out) or not Path(out).exists() else Path(out)
    for source in sources:
        if out in (source.uri, source.name) or (
            path is not None and source.path is not None and source.path.samefile(path)
        ):
            raise click.UsageError(f"{out}: is one of the captures; name another file")


def tell_redacted(out: str, done: Done, verified: bool) -> None:
    """What was written, in a line or two."""
    from analyzer.redact.streams import MOST_SILENT

    counts = done.counts
    for line in done.failures:
        say(line)
    left_out = f"; {counts.without_time:,} more have no time and were left out" if counts.without_time else ""
    say(
        f"{file_text(out)}: {things(counts.packets, 'packet')} ({size(counts.packet_bytes)}), "
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
    if counts.forgotten_beginnings:
        say(
            f"of {things(counts.forgotten_beginnings, 'stream')} the first byte came more than {MOST_SILENT:,} attempts of others "
            "after the SYN: what stood at the beginning (a PROXY header, a TLS hello, an unfinished message) became zeros"
        )
    if verified:
        say("proved: no byte is kept that is not on the list, and no name or value was found")


def tell_not_proved(problem: NotProved) -> None:
    """What verification found."""
    for line in problem.problems:
        say(f"not proved: {line}")
    say("nothing was written")
