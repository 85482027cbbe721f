"""What `extract --redact` writes: the chosen packets redacted, alone or in one file with report, manifest and versions."""

from __future__ import annotations

import io
import json
import platform
import shutil
import zipfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import Filters
from analyzer.base.outputs import new_file, packed
from analyzer.extract import choice
from analyzer.extract.copying import copy
from analyzer.extract.pcapng_file import PcapngFile
from analyzer.inputs.sources import Source
from analyzer.query.run_findings import find
from analyzer.redact.redaction_run import Done, redact, redact_decrypted, write_manifest
from analyzer.report.facts import facts_of_report
from analyzer.run import local
from analyzer.version import VERSION

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.base.outputs import Output
    from analyzer.query.dataset import Dataset

_CAPTURE, _REPORT, _MANIFEST, _VERSIONS = "capture.pcapng", "report.txt", "manifest.json", "versions.json"
_LIBRARIES = ("click", "cramjam", "cryptography", "duckdb", "google-crc32c", "pyarrow", "rich")
_WIDTH = 120


def make(
    chosen: Path, folder: Path, target: Output, options: Options, key: bytes, comments: bool, decrypts: bool
) -> Done:
    """Redacts the packets of `chosen`, proves it, and writes them to `target`: a capture, or a zip file with all that a bug report
    needs. `folder` is for what comes between; `decrypts`: with what was said in TLS connections whose keys `options` names.
    Raises NotProved, InputError, RefusedError, OSError."""
    capture = folder / _CAPTURE
    plain = _plain(options)
    run, how = (redact_decrypted, replace(plain, tls_key_logs=options.tls_key_logs)) if decrypts else (redact, plain)
    done = run([_source(chosen)], capture, "", how, key, True, lambda: None)
    if comments:
        commented(capture, folder / "commented", plain)
        (folder / "commented").replace(capture)
    with target.file() as path:
        if target.name.endswith(".zip"):
            write(capture, done.manifest, path, plain)
            return done
        with capture.open("rb") as source, packed(path, Path(target.name).suffix) as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
        write_manifest(target, done)
    return done


def _source(path: Path) -> Source:
    return Source(path.name, path, path.stat().st_size)


def commented(capture: Path, target: Path, options: Options) -> None:
    """Writes a redacted capture once more, with comments at its packets that say what they are. Other packets are left out."""
    with local.open_dataset([str(capture)], options) as dataset:
        wanted = choice.Choice(choice.all_of(dataset))
        choice.add_spans(dataset, wanted)
        choice.add_comments(dataset, wanted, list(enumerate(find(dataset), 1)))
        with packed(target, "") as sink:
            copy([_source(capture)], wanted, (), options.decode_as, PcapngFile(sink))


def write(capture: Path, manifest: dict[str, Any], target: Path, options: Options) -> None:
    """Writes the zip file of a redacted capture."""
    with local.open_dataset([str(capture)], options) as dataset:
        report = report_text(dataset)
    with new_file(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.write(capture, _CAPTURE)
        bundle.writestr(_REPORT, report)
        bundle.writestr(_MANIFEST, json.dumps(manifest, indent=2) + "\n")
        bundle.writestr(_VERSIONS, json.dumps(versions(), indent=2) + "\n")


def report_text(dataset: Dataset) -> str:
    """The report as on a terminal, of the capture as it is called in the file."""
    from rich.console import Console

    from analyzer.report.terminal import print_report

    dataset.captures = _CAPTURE
    text = io.StringIO()
    with facts_of_report(dataset) as facts:
        print_report(facts, Console(file=text, width=_WIDTH, highlight=False, color_system=None))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def versions() -> dict[str, str]:
    """What the file was made with."""
    found = {
        "kanalyze": VERSION,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    return found | {name: version(name) for name in _LIBRARIES}


def _plain(options: Options) -> Options:
    """How a capture is read that was redacted: whole, and by itself."""
    return replace(options, filters=Filters(), taps=(), tls_key_logs=(), names=())
