"""`redact`: what it writes tells the same as the capture but for names, and nothing that it must not."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import capture_tools
import pytest
from capture_tools import tshark, unpacked
from effort import LONG, also_long
from made_capture import ACK, Conversation, merged, pcap, reply, request
from paths import ROOT, SAMPLES
from same_but_names import differences

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import Source
from analyzer.redact import allow_list, redaction_run
from analyzer.redact.verification import Verdict, verify
from analyzer.run import local
from lab.score import DATA, truths

# Messages of all APIs, and addresses of IPv6.
CAPTURES = [path for path in sorted(SAMPLES.glob("*.pcap*")) if LONG or path.name.startswith(("ipv6.", "sweep_43."))]
# Cut packets, all interfaces, tokens, old formats, TLS, groups; then mid-flight, two interfaces, two clusters, and the like.
LAB = also_long(
    ["groups_share", "old_java", "sasl_token", "shape_any", "shape_snap128", "tls13"],
    ["shape_late", "shape_two", "telemetry", "two_clusters", "basics", "broker_11", "clients", "groups_classic", "groups_848",
     "groups_streams", "ipv6", "old_others", "sasl", "sasl_old", "shape_early", "shape_nano", "shape_snap96", "shape_snap256",
     "throttle", "tls12", "transactions"],
)  # fmt: skip


def redacted(*words: str | Path) -> None:
    assert main(["redact", *map(str, words)]) == 0


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.partition(".")[0])
def test_a_sample_tells_the_same_but_for_names(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    redacted(path, "-o", out, "--verify")
    assert differences(path, out) == []


@pytest.mark.slow
# Packets cut within a ClientHello, and connections met in mid-flight, of which header after header lies in packets that were cut;
# packets with nothing but a record that ends in none of them; client ids that were cut.
@pytest.mark.parametrize(
    "name", also_long(["tls_stall_snap80", "tls_rolling_restart", "packed_load"], sorted(truths()))
)
def test_an_incident_tells_the_same_but_for_names(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    assert main(["redact", str(DATA / f"{name}.pcap.zst"), "-o", str(out), "--verify"]) == 0
    assert differences(DATA / f"{name}.pcap.zst", out) == []


@pytest.mark.parametrize("name", LAB)
def test_any_capture_tells_the_same_but_for_names(name: str, shared: Path, tmp_path: Path) -> None:
    (path,) = (shared / "captures" / "lab").glob(f"{name}.pcap*")
    out = tmp_path / "out.pcapng.zst"
    redacted(path, "-o", out, "--verify")
    assert differences(path, out) == []


def names_in(shared: Path) -> list[str]:
    """Topics, client ids, users, passwords and groups that the README and the truth of the lab name."""
    folder = shared / "captures" / "lab"
    text = (folder / "README.md").read_text() + (folder / "TRUTH.json").read_text()
    words = set(re.findall(r"[A-Za-z0-9][A-Za-z0-9_.-]{7,60}", text))
    names = {word.strip(".-") for word in words if re.match(r"(shop|orders|payments|secret|alice|bob|admin)", word)}
    return sorted(name for name in names if len(name) >= 8)


@pytest.mark.parametrize("name", ["sasl", "groups_classic"])
def test_names_and_passwords_of_the_lab_are_gone(name: str, shared: Path, tmp_path: Path) -> None:
    (path,) = (shared / "captures" / "lab").glob(f"{name}.pcap*")
    out = tmp_path / "out.pcapng"
    redacted(path, "-o", out)
    before, after = unpacked(path), out.read_bytes()
    sought = [each.encode() for each in names_in(shared)]
    assert sum(each in before for each in sought) > 5
    assert [each for each in sought if each in after] == []


def test_tshark_sees_the_same_packets_and_right_checksums(tmp_path: Path) -> None:
    """As another program sees it: times, sizes, sequence numbers; no packet has a wrong checksum that had a right one."""
    path, out = SAMPLES / "throttle.pcap.zst", tmp_path / "out.pcapng"
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(unpacked(path))
    redacted(path, "-o", out)
    fields = [
        "frame.time_epoch",
        "frame.cap_len",
        "frame.len",
        "tcp.seq_raw",
        "tcp.ack_raw",
        "tcp.flags",
        "tcp.len",
        "tcp.window_size",
    ]
    checks = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    assert tshark(out, fields) == tshark(plain, fields)
    for field in ("tcp.checksum.status", "ip.checksum.status"):
        before, after = (tshark(each, [field], *checks) for each in (plain, out))
        changed = [(old[field], new[field]) for old, new in zip(before, after, strict=True) if old != new]
        # What offloading left in the field is kept as that. Beside new bytes one such sum in 65,536 is right by chance.
        assert len(changed) <= 3
        assert set(changed) <= {("0", "1")}


def test_one_key_gives_the_same_names_in_all_files(tmp_path: Path) -> None:
    key = tmp_path / "ours.key"
    for name in ("one", "two"):
        redacted(SAMPLES / "throttle.pcap.zst", "-o", tmp_path / f"{name}.pcapng", "--key-file", key)
    redacted(SAMPLES / "throttle.pcap.zst", "-o", tmp_path / "three.pcapng")
    one, two, three = ((tmp_path / f"{name}.pcapng").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three
    assert key.stat().st_mode & 0o777 == 0o600


def test_what_was_kept_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    redacted(SAMPLES / "throttle.pcap.zst", "-o", out, "--verify")
    beside = tmp_path / "out.pcapng.manifest.json"
    found = json.loads(beside.read_text())
    assert found["verified"]["packets_compared"] == found["counts"]["packets"]
    assert "apache-kafka-java" in found["kept_as_it_is"]["well_known_words"]["word"]
    assert out.stat().st_mode & 0o777 == beside.stat().st_mode & 0o777 == 0o600


def sources() -> list[Source]:
    return expand([str(SAMPLES / "throttle.pcap.zst")]).sources


def test_a_name_that_was_kept_by_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the list let client ids through; whoever verifies has the right list."""
    kept = allow_list.is_kept
    with monkeypatch.context() as patch:
        patch.setattr(allow_list, "is_kept", lambda kind, value: kind == "client" or kept(kind, value))
        out = tmp_path / "out.pcapng"
        redacted(SAMPLES / "throttle.pcap.zst", "-o", out)
    assert any("name or value" in line for line in verify(out, sources(), Options(), lambda: None).problems)


def test_a_file_that_is_not_proved_does_not_get_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        redaction_run, "verify", lambda *_, **__: Verdict(problems=["packet 7 has bytes that are not on the list"])
    )
    out = tmp_path / "out.pcapng"
    assert main(["redact", str(SAMPLES / "throttle.pcap.zst"), "-o", str(out), "--verify"]) == 1
    assert "packet 7" in capsys.readouterr().err and list(tmp_path.iterdir()) == []


def test_a_byte_that_is_not_on_the_list_is_found(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    redacted(SAMPLES / "throttle.pcap.zst", "-o", out)
    data = bytearray(out.read_bytes())
    place = data.rfind(bytes(200)) + 100  # in the value of a record
    data[place] = 1
    out.write_bytes(data)
    assert any("not on the list" in line for line in verify(out, [], Options(), lambda: None).problems)


def test_bad_calls_say_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = tmp_path / "a.pcap"
    capture.write_bytes(pcap(Conversation().shake().exchange(request(1), reply(1)).packets))
    (tmp_path / "empty.key").write_bytes(b"")
    for words, said in (
        (["-o", capture], "is one of the captures"),
        (["-o", tmp_path / "no" / "out.pcapng"], "no such directory"),
        (["-o", tmp_path / "out.pcapng", "--client", "a"], "extract --redact"),
        (["-o", tmp_path / "out.pcapng", "--key-file", tmp_path / "empty.key"], "holds no key"),
    ):
        assert main(["redact", str(capture), *map(str, words)]) == 2
        assert said in capsys.readouterr().err
    assert main(["redact", str(tmp_path / "none.pcap"), "-o", str(tmp_path / "out.pcapng")]) == 2
    assert not (tmp_path / "out.pcapng").exists() and not list(tmp_path.glob(".*"))


def test_standard_input_is_redacted_too(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    words = [
        sys.executable,
        "-c",
        "import sys; from analyzer.cli.main import main; raise SystemExit(main(sys.argv[1:]))",
        "redact",
        "-",
        "-o",
        str(out),
    ]
    done = subprocess.run(
        words, input=unpacked(SAMPLES / "throttle.pcap.zst"), cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert differences(SAMPLES / "throttle.pcap.zst", out) == []


def test_nothing_of_the_file_itself_stays(tmp_path: Path) -> None:
    """Names of interfaces, comments, secrets of TLS."""
    section, capture = capture_tools.section(), tmp_path / "a.pcapng"
    named = capture_tools.interface(
        options=capture_tools.option(2, b"eth-of-alice") + capture_tools.option(1, b"seen by bob")
    )
    packets = [packet for _, packet in Conversation().shake().exchange(request(1), reply(1)).packets]
    secret = capture_tools.block(10, b"LSKT" + (20).to_bytes(4, "little") + b"CLIENT_RANDOM ab cd\n")
    capture.write_bytes(section + named + secret + b"".join(capture_tools.enhanced(packet) for packet in packets))
    out = tmp_path / "out.pcapng"
    redacted(capture, "-o", out, "--verify")
    for word in (b"alice", b"bob", b"CLIENT_RANDOM"):
        assert word in capture.read_bytes() and word not in out.read_bytes()


def test_the_beginning_of_a_last_message_stays_one(tmp_path: Path) -> None:
    """A capture ends within a reply of several packets, whose first one stands behind a whole reply; and within a request whose
    API is not there any more. Read as zeros they would be messages of an invalid length."""
    long, short = Conversation(), Conversation(port=40_001)
    long.shake().exchange(request(1), reply(1)).frame(0, request(2)).frame(0, request(3))
    answers = [struct.pack(">i", len(each)) + each for each in (reply(2), reply(3) + bytes(5_000))]
    long.put(1, ACK, answers[0] + answers[1][:900]).put(1, ACK, answers[1][900:1_900]).put(
        1, ACK, answers[1][1_900:2_900]
    )
    short.shake().exchange(request(1), reply(1)).put(0, ACK, struct.pack(">ih", 22, 3) + b"ab")
    capture, out = tmp_path / "a.pcap", tmp_path / "out.pcapng"
    capture.write_bytes(pcap(merged([long, short])))
    redacted(capture, "-o", out, "--verify")
    with local.open_dataset([str(out)], Options()) as dataset:
        (told,) = dataset.query(
            "SELECT sum(client_skipped_unfinished_bytes + broker_skipped_unfinished_bytes)::INT AS unfinished,"
            " sum(client_skipped_malformed_bytes + broker_skipped_malformed_bytes)::INT AS malformed FROM connections"
        )
    assert told == {"unfinished": 2_900 + 8, "malformed": 0}
    assert differences(capture, out) == []
