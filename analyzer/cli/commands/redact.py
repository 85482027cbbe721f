"""`kanalyze redact`: a capture that can be given away."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures
from analyzer.cli.outcome import CHECK_FAILED, FINE, UNREADABLE, say
from analyzer.cli.target import (
    check_can_be_proved,
    key_option,
    output,
    read_key,
    target_option,
    tell_not_proved,
    tell_redacted,
)


@click.command(short_help="A capture that can be given away: names become pseudonyms, content zeros.")
@captures
@target_option("The capture to write: NAME.pcapng, NAME.pcapng.gz or NAME.pcapng.zst, here or in object storage.")
@key_option
@click.option(
    "--verify", "verifies", is_flag=True, help="Prove it before the file gets its name: takes three times as long."
)
@click.option(
    "--decrypt",
    "decrypts",
    is_flag=True,
    help="Of TLS connections with known keys write the redacted content, as plain TCP.  [default: TLS without its content]",
)
@capture_options(strict=False, beside=("names",))
def command(
    inputs: tuple[str, ...], options: Options, out: str, key_file: Path | None, verifies: bool, decrypts: bool
) -> int:
    """Write captures once more as a pcapng file that is safe to attach to a bug report.

    What is kept is on a list: numbers, times and sizes of packets and messages, and words of Kafka's own. Names (topics, clients,
    groups, users, hosts ...), addresses and ids become pseudonyms of the same length. Keys, values and headers of records,
    passwords, settings, and all that is not understood become zeros. So its report is that of the captures but for names.
    FILE.manifest.json lists what was kept.

    With --decrypt a TLS connection whose keys are in a key log (--tls-keylog) or in the capture becomes one of plain TCP: each
    packet keeps its time and carries the content that it brought, redacted like all else; sizes and sequence numbers are those of
    the content. Keys are never written.
    """
    from analyzer.cli.progress import progress
    from analyzer.inputs.capture_heads import in_time_order
    from analyzer.inputs.expansion import expand
    from analyzer.inputs.sources import InputError
    from analyzer.messages.bodies import kept_standard_input
    from analyzer.names.name_table import read
    from analyzer.query.exported import is_dataset
    from analyzer.redact.pseudonyms import Pseudonyms
    from analyzer.redact.redacted_names import as_tsv, kept, sought
    from analyzer.redact.redaction_run import NotProved, redact, redact_decrypted, write_manifest

    if options.filters:
        raise click.UsageError("whole captures are redacted; `kanalyze extract --redact` chooses packets")
    if is_dataset(inputs[0]):
        raise click.UsageError(f"{inputs[0]}: is an export, which has no packets; name captures")
    target = output(out, inputs, options, key_file)
    names = read(options.names) if options.names else None
    if names and not target.is_kept:
        raise click.UsageError("--names are written beside the capture: -o must be a file or an object")
    if verifies:
        check_can_be_proved(target)
    key = read_key(key_file)
    with kept_standard_input(inputs, options) as rewind:
        found = expand(inputs)
        errors = [str(error) for error in found.errors]
        if not found.sources:
            raise InputError("\n".join(errors))
        for line in errors:
            say(line)
        sources = in_time_order(found.sources)
        rewind()
        try:
            with progress(inputs) as bar, target.file() as path:
                run = redact_decrypted if decrypts else redact
                values = sought(names) if names else set()
                done = run(sources, path, Path(out).suffix, options, key, verifies, rewind, bar, values)
                write_manifest(target, done)
                if names:
                    written = as_tsv(names, Pseudonyms(key))
                    if verifies and (problems := kept(values, written)):
                        raise NotProved(problems)
                    with target.beside(".names.tsv").stream() as sink:
                        sink.write(written.encode())
        except NotProved as problem:
            tell_not_proved(problem)
            return CHECK_FAILED
    tell_redacted(target, done, verifies)
    return UNREADABLE if errors or done.failures else FINE
