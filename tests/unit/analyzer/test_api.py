"""The Python API says what the command line says, in Arrow tables."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import SAMPLES

import analyzer
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.inputs.sources import InputError

THROTTLE = SAMPLES / "throttle.pcap.zst"


@pytest.fixture(scope="module")
def cap() -> Iterator[analyzer.Capture]:
    with analyzer.read(THROTTLE) as found:
        yield found


def command(*arguments: str) -> str:
    code = "from analyzer.cli.main import run; run()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_an_attribute_with_the_columns_of_the_contract(name: str, cap: analyzer.Capture) -> None:
    table = getattr(cap, name)
    assert table.schema.names == arrow_schema(name).names
    assert name in dir(cap)


@pytest.mark.slow
def test_findings_are_those_of_the_command_line(cap: analyzer.Capture) -> None:
    told = json.loads(command("findings", str(THROTTLE), "--format", "json"))
    assert [each.rule.name for each in cap.findings] == [each["finding"] for each in told]
    assert told[0]["sentence"] in cap.findings._repr_html_()


def test_latency_by_client_adds_up(cap: analyzer.Capture) -> None:
    whole = sum(cap.latency().column("count").to_pylist())
    parts = cap.latency(by=["client"])
    assert sum(parts.column("count").to_pylist()) == whole
    assert len(set(parts.column("client_id").to_pylist())) > 3
    # What was asked for once is not remembered.
    assert sum(cap.latency().column("count").to_pylist()) == whole
    with pytest.raises(ValueError, match="weather"):
        cap.latency(by=["weather"])


@pytest.mark.slow
def test_show_is_that_of_the_command_line(cap: analyzer.Capture) -> None:
    number = cap.sql("SELECT exchange FROM exchanges WHERE api_name = 'Produce' ORDER BY exchange LIMIT 1").to_pylist()[
        0
    ]
    told = command("show", str(THROTTLE), f"{number['exchange']:016x}")
    assert cap.show(number["exchange"]) == told.rstrip("\n") == cap.show(f"{number['exchange']:016x}")
    with pytest.raises(KeyError):
        cap.show("0" * 16)
    with pytest.raises(ValueError, match="neither"):
        cap.show("nonsense")


def test_filters_narrow_every_table() -> None:
    with analyzer.read([THROTTLE], client="shop-slow-*") as found:
        assert {row["client_id"] for row in found.exchanges.to_pylist()} == {"shop-slow-p", "shop-slow-c"}
        inside = set(found.exchanges.column("exchange").to_pylist())
        assert set(found.mutes.column("exchange").to_pylist()) <= inside


def test_temporary_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = analyzer.read(THROTTLE)
    assert any(tmp_path.iterdir())
    found.close()
    found.close()
    assert not any(tmp_path.iterdir())


def test_a_notebook_shows_text_that_cannot_be_markup() -> None:
    from analyzer.api import Text

    assert Text("<script>")._repr_html_() == "<pre>&lt;script&gt;</pre>"


def test_what_cannot_be_read_is_an_error_with_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing-here"):
        analyzer.read(tmp_path / "nothing-here.pcap")
