"""`redact --decrypt`: TLS becomes plain TCP that tells the same as the capture with its keys, and no key stays."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest
from capture_tools import tshark
from paths import LAB
from same_but_names import differences

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.run import local

pytestmark = pytest.mark.usefixtures("shared")
# What TLS is, and sizes of what was sent, are no matter of what was said.
_OF_TLS = "connections"
_EXCHANGES = (
    "SELECT api_key, api_version, status, request_time_ns, request_bytes, response_bytes FROM exchanges ORDER BY ALL"
)


def redacted(path: Path, out: Path, *words: str | Path) -> int:
    return main(["redact", str(path), "--decrypt", "-o", str(out), *map(str, words)])


def other_differences(before: Path, after: Path, keys: Path) -> list[str]:
    """Differences of tables other than that of connections."""
    found = differences(before, after, Options(tls_key_logs=(keys,)))
    tables = [line for line in found if not line.startswith("  ")]
    return [line for line in tables if not line.startswith(_OF_TLS)]


@pytest.mark.parametrize("name", ["tls12", "tls13"])
def test_decrypted_content_tells_the_same_but_for_names(name: str, tmp_path: Path) -> None:
    path, keys, out = LAB / f"{name}.pcap", LAB / f"{name}.keylog", tmp_path / "out.pcapng"
    assert redacted(path, out, "--tls-keylog", keys, "--verify") == 0
    assert other_differences(path, out, keys) == []
    written = out.read_bytes()
    for line in keys.read_text().splitlines():
        words = line.split()
        if len(words) == 3:
            assert not any(bytes.fromhex(word) in written or word.encode() in written for word in words[1:])
    told = json.loads((tmp_path / "out.pcapng.manifest.json").read_text())["decrypted"]
    assert told["connections"] == 27 and told["packets_left_out"] == 0 and told["content_bytes"] > 90_000


def test_another_program_reads_the_content(tmp_path: Path) -> None:
    """tshark finds as many Kafka requests in the copy as with the keys in the capture, nothing missing, and right checksums."""
    path, keys, out = LAB / "tls13.pcap", LAB / "tls13.keylog", tmp_path / "out.pcapng"
    assert redacted(path, out, "--tls-keylog", keys) == 0
    shown, ids = ("-Y", "kafka.correlation_id"), ["frame.time_epoch", "kafka.correlation_id"]
    with_keys = ("-o", f"tls.keylog_file:{keys}", "-d", "tls.port==9096,kafka")
    assert tshark(out, ids, "-d", "tcp.port==9096,kafka", *shown) == tshark(path, ids, *with_keys, *shown) != []
    checks = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    wrong = (
        "tcp.checksum.status==0 || ip.checksum.status==0 || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment"
    )
    assert tshark(out, ["frame.number"], *checks, "-Y", wrong) == []


def test_what_was_lost_stays_lost(tmp_path: Path) -> None:
    """Packets are taken out at random: the copy has the same exchanges, and the same are without a reply."""
    keys = LAB / "tls13.keylog"
    whole = (LAB / "tls13.pcap").read_bytes()
    for seed in (1, 2):
        chosen, at, number = random.Random(seed), 24, 0
        kept = [whole[:24]]
        while at < len(whole):
            size = 16 + int.from_bytes(whole[at + 8 : at + 12], "little")
            if number < 3 or chosen.random() > 0.02:
                kept.append(whole[at : at + size])
            at, number = at + size, number + 1
        path, out = tmp_path / f"{seed}.pcap", tmp_path / f"{seed}.pcapng"
        path.write_bytes(b"".join(kept))
        assert len(kept) < number
        assert redacted(path, out, "--tls-keylog", keys, "--verify") == 0
        with (
            local.open_dataset([str(path)], Options(tls_key_logs=(keys,))) as before,
            local.open_dataset([str(out)], Options()) as after,
        ):
            assert before.query(_EXCHANGES) == after.query(_EXCHANGES)


def test_keys_in_the_capture_serve_and_are_not_written(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    assert redacted(LAB / "tls13_embedded.pcapng", out, "--verify") == 0
    assert b"TRAFFIC_SECRET" in (LAB / "tls13_embedded.pcapng").read_bytes()
    assert b"TRAFFIC_SECRET" not in out.read_bytes()


def test_without_keys_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.pcapng"
    assert redacted(LAB / "tls13.pcap", out) == 2
    assert "--tls-keylog" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_chosen_packets_are_decrypted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What one client said under TLS, in clear: as many exchanges as the capture with its keys has of it, and its report."""
    path, keys, out = LAB / "tls13.pcap", LAB / "tls13.keylog", tmp_path / "issue.zip"
    words = ["extract", str(path), "--tls-keylog", str(keys), "--client", "shop-tls-kp-adm", "--bare", "--redact"]
    assert main([*words, "--decrypt", "--comment", "-o", str(out)]) == 0
    with zipfile.ZipFile(out) as bundle:
        bundle.extract("capture.pcapng", tmp_path)
        assert json.loads(bundle.read("manifest.json"))["decrypted"]["connections"] > 0
        assert b"TRAFFIC_SECRET" not in bundle.read("capture.pcapng") and b"answered" in bundle.read("report.txt")
    count = "SELECT api_key, request_time_ns FROM exchanges WHERE connection IN (SELECT connection FROM exchanges {}) ORDER BY ALL"
    with (
        local.open_dataset([str(path)], Options(tls_key_logs=(keys,))) as before,
        local.open_dataset([str(tmp_path / "capture.pcapng")], Options()) as after,
    ):
        assert before.query(count.format("WHERE client_id = 'shop-tls-kp-adm'")) == after.query(count.format("")) != []
    assert main([*words, "--finding", "1", "--around", "1s", "--decrypt", "-o", str(tmp_path / "no.zip")]) == 2
    assert "--around" in capsys.readouterr().err
