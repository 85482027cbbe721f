"""Names of addresses are redacted as the capture is: the file beside it says the same by pseudonyms, and holds no name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.inputs.sources import Source
from analyzer.names.name_table import read
from analyzer.query.metrics import text
from analyzer.redact import redacted_names
from analyzer.redact.redacted_names import kept, sought
from analyzer.redact.redaction_run import NotProved, redact
from analyzer.run.local import open_dataset
from lab.score import DATA

CAPTURE, NAMES = DATA / "zones_followed.pcap.zst", DATA / "zones_followed.names.tsv"
NUMBERS = ("between_brokers", "zone_way", "way", "connections", "bytes", "share")


def flows(capture: Path, *names: Path) -> list[list[Any]]:
    with open_dataset([str(capture)], Options(names=names)) as dataset:
        rows = dataset.query(text("zones"))
    return sorted(([row[name] for name in NUMBERS] for row in rows), key=repr)


def test_zones_by_redacted_names_are_those_by_names(tmp_path: Path) -> None:
    """The racks in messages and the zones of names have the same pseudonyms, too."""
    out = tmp_path / "out.pcapng"
    assert main(["redact", str(CAPTURE), "--names", str(NAMES), "-o", str(out)]) == 0
    written = out.with_name("out.pcapng.names.tsv")
    told = flows(CAPTURE, NAMES)
    assert {row[1] for row in told} == {"within", "across"}
    assert flows(out, written) == told
    with open_dataset([str(out)], Options(names=(written,))) as dataset:
        racks = {row["rack"] for row in dataset.query("SELECT rack FROM brokers WHERE rack <> ''")}
        zones = {row["broker_zone"] for row in dataset.query("SELECT broker_zone FROM connections WHERE is_kafka")}
    assert racks == zones


def test_no_name_and_no_address_stays(tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    head = "address\thost\tpod\tnamespace\tworkload\tzone\tfrom\tto\n"
    told = ("10.20.0.11", "db-7.acme.example", "billing-x1", "billing", "deployment/billing", "eu-west-1a")
    names.write_text(head + "\t".join((*told, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")) + "\n")
    out = tmp_path / "out.pcapng"
    assert main(["redact", str(CAPTURE), "--names", str(names), "-o", str(out)]) == 0
    (before,) = read([names]).rows
    written = out.with_name("out.pcapng.names.tsv")
    (row,) = read([written]).rows
    assert (row.begin_ns, row.end_ns) == (before.begin_ns, before.end_ns)
    assert row.workload is not None and row.workload.startswith("deployment/")
    for word in (*told[:4], "billing", *told[5:], "acme", "west"):
        assert word not in written.read_text(), word
    assert None not in row[3:]


def test_a_workload_of_a_kind_that_somebody_made_is_redacted_whole(tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("address\tworkload\n10.20.0.11\tacmepayments/billing\n10.20.0.12\tjob\n")
    out = tmp_path / "out.pcapng"
    assert main(["redact", str(CAPTURE), "--names", str(names), "-o", str(out)]) == 0
    told = [row.workload for row in read([out.with_name("out.pcapng.names.tsv")]).rows]
    assert [value is not None and len(value) for value in told] == [len("acmepayments/billing"), len("job")]
    assert all(value and value.partition("/")[0] not in ("acmepayments", "job") for value in told)


def test_names_beside_a_pipe_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", str(CAPTURE), "--names", str(NAMES), "-o", "-"]) == 2
    assert "-o must be a file or an object" in capsys.readouterr().err


def test_names_that_stay_are_found_by_verification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the file beside the capture, and in the capture, where a name that nothing redacts would be."""
    asked = ["redact", str(CAPTURE), "--names", str(NAMES), "--verify", "-o"]
    out = tmp_path / "out.pcapng"
    assert main([*asked, str(out)]) == 0
    written = out.with_name("out.pcapng.names.tsv")
    assert kept(sought(read([NAMES])), NAMES.read_text()) and not kept(sought(read([NAMES])), written.read_text())
    monkeypatch.setattr(redacted_names, "as_tsv", lambda _names, _pseudonyms: NAMES.read_text())
    bad = tmp_path / "bad.pcapng"
    capsys.readouterr()
    assert main([*asked, str(bad)]) != 0
    assert not bad.exists() and not bad.with_name("bad.pcapng.names.tsv").exists()


def test_a_name_in_the_capture_itself_is_found(tmp_path: Path) -> None:
    """A host whose name is one that followers have by themselves, so that it stays."""
    out = tmp_path / "out.pcapng"
    key = b"k" * 32
    source = Source(CAPTURE.name, CAPTURE, CAPTURE.stat().st_size)
    with pytest.raises(NotProved):
        redact([source], out, ".pcapng", Options(), key, True, lambda: None, names=(b"broker-3-fetcher-0",))
