"""A manifest that is none is one line and no harm, whatever stands in which field: it may have come with a dataset of others."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.cli.main import main
from analyzer.query import growing
from analyzer.query.dataset import DatasetError
from analyzer.query.dataset_places import LocalPlace
from analyzer.query.export_tables import export
from analyzer.query.exported import open_dataset
from analyzer.query.manifest import MOST_BYTES, checked
from analyzer.run import additions, local

# What stands in a field instead: of each type of JSON, at the ends of what a number can be, and text that acts.
WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 2**63, -(2**63) - 1, 10**400, float("nan"), ""),
    *("x\x1b[31m\n", "\0", "\ud800", "../../x", "/etc/passwd", [], [[]], {}, {"\ud800": 1}, {"a": {}}),
)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("grown") / "set"
    additions.add([str(SAMPLES / "throttle.pcap.zst")], str(to), Options())
    return to


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand, one of each kind: the first element of a list, of tables one with files and one without."""
    yield way
    if isinstance(value, list):
        yield from places(value[0], (*way, 0)) if value else ()
    elif isinstance(value, dict):
        names = [name for name in value if name not in TABLES or name in ("exchanges", "mutes")]
        for name in names:
            yield from places(value[name], (*way, name))


def changed(told: Any, way: tuple[Any, ...], put: Any) -> Any:
    """The value with another one at a place; `...` takes it away."""
    if not way:
        return put if put is not ... else None
    found = copy.deepcopy(told)
    inner = found
    for step in way[:-1]:
        inner = inner[step]
    if put is ...:
        del inner[way[-1]]
    else:
        inner[way[-1]] = put
    return found


def test_a_wrong_value_in_any_field_is_one_line(grown: Path) -> None:
    told = json.loads((grown / "manifest.json").read_bytes())
    refused = 0
    for way in places(told):
        for put in (..., *WRONG):
            data = json.dumps(changed(told, way, put)).encode()
            try:
                found = checked(data, "it")
            except DatasetError as error:
                refused += 1
                assert str(error).startswith("it") and len(str(error)) < 300
                assert str(error).isprintable()
            else:
                # Then it is of the form that each reader takes.
                for written in (found.get("files") or {}).values():
                    assert all(isinstance(file["rows"], int) for file in written)
    assert refused > 500


def test_readers_take_what_was_not_refused(grown: Path, tmp_path: Path) -> None:
    """Each of them, over the same manifests: nothing but a line of ours ends it."""
    told = json.loads((grown / "manifest.json").read_bytes())
    below = tmp_path / "set"
    below.mkdir()
    for path in grown.iterdir():
        if path.name != "manifest.json":
            (below / path.name).symlink_to(path)
    # Of two tables, which are soon opened.
    for tables in (told["tables"], told["files"], told["runs"][0]["files"]):
        for name in {*tables} - {"exchanges", "mutes"}:
            del tables[name]
    told["runs"][0]["open_files"] = []
    taken = 0
    # What the description says of inputs no reader of tables looks at.
    for way in (way for way in places(told) if "inputs" not in way):
        for put in (..., 7, []):
            data = json.dumps(changed(told, way, put)).encode()
            try:
                checked(data, "it")
            except DatasetError:
                continue
            (below / "manifest.json").write_bytes(data)
            try:
                open_dataset(below).close()
                growing.read_manifest(LocalPlace(below)).text()
                taken += 1
            except DatasetError as error:
                assert "\n" not in str(error)
    assert taken > 10


@pytest.mark.parametrize(
    "name",
    [
        "../../notes.txt",
        "/etc/passwd",
        "exchanges/../../notes.txt",
        "notes.txt",
        "exchanges//x.parquet",
        "exchanges/./x",
    ],
)
@pytest.mark.parametrize("field", ["files", "runs"])
def test_a_file_outside_of_its_table_is_not_touched(grown: Path, tmp_path: Path, name: str, field: str) -> None:
    """To add a capture moves files and removes those that belong to no run."""
    told = json.loads((grown / "manifest.json").read_bytes())
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    (tmp_path / "set").mkdir()
    place = told["files"] if field == "files" else told["runs"][0]["files"]
    place["exchanges"] = [{"file": name, "rows": 1, "first_time_ns": None, "last_time_ns": None}]
    (tmp_path / "set" / "manifest.json").write_text(json.dumps(told))
    with pytest.raises(DatasetError, match="expected the name of a file of exchanges"):
        additions.add([str(SAMPLES / "ipv6.pcap.zst")], str(tmp_path / "set"), Options())
    assert notes.read_text() == "mine"
    assert [path.name for path in (tmp_path / "set").iterdir() if path.name != "_kanalyze"] == ["manifest.json"]


def nested(depth: int) -> bytes:
    return b'{"format": "parquet", "tables": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            b'{"kanalyze":"0.1","format":"parquet","schema":"one","tables":{}}',
            'schema: expected a whole number, got "one"',
        ),
        (b"", "expected JSON"),
        (b"[]", "expected an object, got a list"),
        (b"7", "expected an object, got 7"),
        (b'{"format": "parquet", "kanalyze": "\xff"}', "expected text in UTF-8"),
        ('{"format": "parquet"}'.encode("utf-16"), "expected text in UTF-8"),
        (nested(100_000), "expected JSON"),
        (b'{"format": "parquet", "schema": ' + b"9" * 10_000 + b"}", "expected JSON"),
        (b'{"format": "parquet", "schema": 2, "tables": 7}', "was written by a newer kanalyze"),
        (b'{"format": "par\\u0007quet"}', r"exported as par\\x07quet"),
        (b'{"name": "an application", "icons": []}', "expected a field format"),
    ],
)
def test_what_is_no_manifest_ends_with_a_line(
    tmp_path: Path, data: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.json").write_bytes(data)
    for command in (["report"], ["findings"], ["sql", "select 1"], ["export", "--to", str(tmp_path / "new")]):
        arguments = [command[0], str(tmp_path), *command[1:]]
        assert main(arguments) == 2
        told = capsys.readouterr()
        assert told.out == "" and told.err.count("\n") == 1
        assert words.replace("\\\\", "\\") in told.err


def test_a_byte_order_mark_and_fields_of_tomorrow_are_no_reason(tmp_path: Path) -> None:
    with local.open_dataset([str(SAMPLES / "ipv6.pcap.zst")], Options()) as dataset:
        export(dataset, tmp_path / "set", "parquet")
    path = tmp_path / "set" / "manifest.json"
    told = json.loads(path.read_bytes()) | {"colour": "green"}
    told["files"]["tomorrow"] = [{"file": "tomorrow/part.parquet", "rows": 1, "more": []}]
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(told).encode())
    with open_dataset(tmp_path / "set") as dataset:
        assert dataset.query("select count(*) as n from exchanges")[0]["n"] > 0


def test_what_is_no_file_or_a_huge_one_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "manifest.json"
    path.touch()
    os.truncate(path, MOST_BYTES + 1)
    assert main([str(tmp_path)]) == 2
    assert f"has more than {MOST_BYTES:,} bytes" in capsys.readouterr().err
    path.unlink()
    os.mkfifo(path)
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    for add in ("--add", "--to"):
        assert (
            main(["export", str(SAMPLES / "ipv6.pcap.zst"), add, *(["--to"] if add == "--add" else []), str(tmp_path)])
            == 2
        )
        assert capsys.readouterr().err.count("\n") == 1


def test_a_manifest_that_would_be_too_large_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "MOST_BYTES", 10)
    with pytest.raises(DatasetError, match="too many runs"):
        growing.commit(LocalPlace(tmp_path), growing.Manifest(), [])
    assert not (tmp_path / "manifest.json").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"layout": 7}', '{"api_keys": ["x"]}', None])
def test_what_a_run_kept_is_checked_too(grown: Path, tmp_path: Path, text: str | None) -> None:
    import shutil

    to = tmp_path / "set"
    shutil.copytree(grown, to)
    (kept,) = to.glob("_kanalyze/state/*/summary.json")
    kept.unlink()
    if text is not None:
        kept.write_text(text)
    with pytest.raises(DatasetError, match="kept its open connections in a form that this one does not read"):
        additions.add([str(SAMPLES / "ipv6.pcap.zst")], str(to), Options())
