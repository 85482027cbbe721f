"""One place writes under names that users gave: whole or not at all, never over an input, never in the place of a device."""

from __future__ import annotations

import ast

import pytest
from paths import ROOT

# Files that open others for writing, and what these are: of runs alone, or of a folder that is kanalyze's.
OTHERS = {
    "analyzer/base/outputs.py": "the one place",
    "analyzer/base/temp_folders.py": "locks of temporary directories",
    "analyzer/base/workers.py": "pipes between processes of a run",
    "analyzer/cli/outcome.py": "standard streams",
    "analyzer/distributed/fragments.py": "temporary: between tasks",
    "analyzer/distributed/open_connections.py": "temporary: on their way into a dataset",
    "analyzer/ingest/raw_writer.py": "temporary: raw tables",
    "analyzer/query/dataset_places.py": "a dataset that grows: names inside it, of files that are whole",
    "analyzer/query/export_tables.py": "a new dataset: names inside it, of files that are whole",
    "analyzer/query/export.py": "a stream that somebody opened",
    "analyzer/query/table_directories.py": "temporary: copies of objects",
    "analyzer/redact/key_files.py": "a new key, which must not take the place of another one",
    "analyzer/redact/packet_spool.py": "temporary",
    "analyzer/redact/packet_store.py": "temporary",
    "analyzer/redact/redaction_run.py": "temporary: redacted once more",
    "analyzer/redact/bug_report.py": "temporary: with comments; a stream that somebody opened",
    "analyzer/request_log/log_reader.py": "temporary: a raw table",
    "analyzer/run/facts_of_runs.py": "temporary",
    "analyzer/run/local.py": "temporary",
    "analyzer/run/run_sql.py": "temporary",
    "analyzer/spark/adding.py": "temporary: what is kept of a run",
    "analyzer/spark/final.py": "temporary, of an executor",
    "analyzer/spark/kept_connections.py": "temporary, of an executor",
    "analyzer/spark/on_driver.py": "temporary: a copy of tables",
    "analyzer/spark/rows.py": "temporary, of an executor",
    "analyzer/spark/sink.py": "a new dataset",
    "analyzer/spark/stages.py": "temporary, of an executor",
    "analyzer/watch/incident_files.py": "the recorder's folder: an incident, when it is whole",
    "analyzer/watch/otlp_sink.py": "a new file, which must not take the place of another one",
    "analyzer/watch/reader_process.py": "temporary: windows",
    "analyzer/watch/recorder.py": "the recorder's folder: its lock, a hook's log",
    "analyzer/watch/ring.py": "the recorder's folder: its ring",
    "analyzer/watch/totals.py": "temporary: windows",
}
_OPENERS = ("open", "fdopen", "FileIO", "NamedTemporaryFile", "ZipFile", "GzipFile", "NamedFile")
_WRITERS = ("write_text", "write_bytes", "touch", "mkstemp", "mkfifo", "ParquetWriter", "write_feather", "write_csv")
_MOVERS = ("rename", "renames", "move", "copy2", "copyfile", "link", "symlink", "hardlink_to", "symlink_to")


def writes(call: ast.Call) -> bool:
    """Whether a call opens a file for writing, or puts one into a place."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    of = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    if of == "formatter":
        return False  # click's, of help texts
    if name in _WRITERS or (name in _MOVERS and of in ("os", "shutil")) or (of == "pq" and name == "write_table"):
        return True
    if name in ("rename", "replace") and of and len(call.args) == 1 and not call.keywords:
        return True  # of a path; that of a text has two
    words = [ast.unparse(each) for each in (*call.args, *(each.value for each in call.keywords))]
    flags = any("O_WRONLY" in word or "O_RDWR" in word or "O_CREAT" in word for word in words)
    modes = [word.strip("'") for word in words if word.startswith("'") and len(word) <= 5]
    return name in _OPENERS and (
        flags or any(set(mode) & set("wax+") and set(mode) <= set("rwaxbt+") for mode in modes)
    )


def writing_lines(source: str) -> list[int]:
    """The lines of such calls."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and writes(node)]


def test_no_other_place_writes_under_a_name_of_a_user() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in sorted((ROOT / "analyzer").rglob("*.py"))
        if (lines := writing_lines(path.read_text(encoding="utf-8")))
    }
    new = {name: lines for name, lines in found.items() if name not in OTHERS}
    assert not new, "a name that a user gave is written by analyzer.base.outputs; what is temporary is named here"
    assert not set(OTHERS) - set(found), "they write no longer"


@pytest.mark.parametrize(
    "line",
    [
        "Path(out).write_text(made)",
        "out.open('wb')",
        "open(out, mode='a')",
        "os.open(out, os.O_WRONLY | os.O_TRUNC)",
        "unfinished.replace(out)",
        "shutil.copyfile(made, out)",
        "zipfile.ZipFile(out, 'w')",
        "pq.write_table(table, out)",
    ],
)
def test_these_are_found(line: str) -> None:
    assert writing_lines(line) == [1]


def test_these_are_none() -> None:
    for line in (
        "open(path)",
        "path.open('rb')",
        "text.replace('a', 'b')",
        "replace(options, jobs=1)",
        "os.open(path, os.O_RDONLY)",
    ):
        assert writing_lines(line) == []
