"""Reports of captures that a person has read, at 80 and 120 columns; and each command that they suggest is one that works."""

from __future__ import annotations

import io
import os
import re
import shlex
import struct
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from pathlib import Path
from unittest import mock

import pytest
import zstandard
from effort import LONG
from kept_datasets import kept_datasets
from paths import LAB, ROOT, SAMPLES

from analyzer.cli.main import main

REPORTS = ROOT / "tests" / "data" / "reports"
INCIDENTS = ROOT / "tests" / "data" / "incidents"
WIDTHS = (80, 120)
# What each shows: throttled clients, groups, old clients, a healthy day, a link at its limit, a broker that was killed, TLS
# without keys beside plain text, nothing but TLS without keys, TLS at a port that has none (no Kafka at all), replies alone,
# many files of different captures, and one long capture in many files.
CAPTURES = {
    "throttle": SAMPLES / "throttle.pcap.zst",
    "groups_classic": SAMPLES / "groups_classic.pcap.zst",
    "old_java": SAMPLES / "old_java.pcap.zst",
    "mirror": INCIDENTS / "mirror.pcap.zst",
    "rate_limited_link_client": INCIDENTS / "rate_limited_link_client.pcap.zst",
    "broker_killed": INCIDENTS / "broker_killed.pcap.zst",
    "secure_day": INCIDENTS / "secure_day.pcap.zst",
    "tls_at_plaintext_client": INCIDENTS / "tls_at_plaintext_client.pcap.zst",
    "tls_only": INCIDENTS / "secure_day.pcap.zst",
    "replies_only": SAMPLES / "throttle.pcap.zst",
    "samples": SAMPLES,
    "cluster": LAB / "cluster.*.pcap*",
}
# Captures made of others: which packets stay, by source and destination port.
PARTS: dict[str, Callable[[int, int], bool]] = {
    "tls_only": lambda source, destination: (
        TLS_PORT in (source, destination) and max(source, destination) in TLS_CLIENTS
    ),
    "replies_only": lambda source, _: source < LEAST_OF_CLIENTS,
}
TLS_PORT, TLS_CLIENTS = 9094, range(44_900, 45_000)
# In a capture of Ethernet and IPv4 without options.
PORT_AT = 16 + 14 + 20
LEAST_OF_CLIENTS = 32_768


def name_of(story: str) -> str:
    """What the capture is called in the folder of `placed`."""
    return f"{story}.pcap" if story in PARTS else CAPTURES[story].name


def placed(folder: Path) -> None:
    """Puts all captures into a folder, as a person would have them."""
    for story, path in CAPTURES.items():
        if story in PARTS:
            (folder / name_of(story)).write_bytes(part_of(path, PARTS[story]))
        elif "*" in path.name:
            for each in path.parent.glob(path.name):
                (folder / each.name).symlink_to(each)
        elif not (folder / path.name).exists():
            (folder / path.name).symlink_to(path)


def part_of(path: Path, stays: Callable[[int, int], bool]) -> bytes:
    """The capture without some packets: as where a mirror port sees one direction, or where nothing is in plain text."""
    with zstandard.open(path) as file:
        data = file.read()
    kept, at = [data[:24]], 24
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        record = data[at : at + 16 + length]
        if stays(*struct.unpack_from(">HH", record, PORT_AT)):
            kept.append(record)
        at += len(record)
    return b"".join(kept)


def typed(story: str) -> list[str]:
    """What a shell makes of the name."""
    if "*" not in name_of(story):
        return [name_of(story)]
    names = sorted(path.name for path in Path().glob(name_of(story)))
    return names or pytest.skip("needs the captures of the lab")


def printed(story: str, width: int) -> str:
    """What `kanalyze CAPTURE` prints in the folder of the captures."""
    sink = io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS=str(width)), redirect_stdout(sink), redirect_stderr(io.StringIO()):
        assert main(typed(story)) == 0
    return sink.getvalue()


def suggested(report: str) -> list[str]:
    """The command lines in a report, each once."""
    whole = re.sub(r" \\\n\s*", " ", report)
    found = [(match[1], match[2]) for match in re.finditer(r"(\(?)(kanalyze [a-z].*)$", whole, re.MULTILINE)]
    return list(dict.fromkeys(line.removesuffix(")") if bracket else line for bracket, line in found))


@pytest.fixture(scope="module", autouse=True)
def _in_their_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    made = tmp_path_factory.mktemp("captures")
    placed(made)
    before = Path.cwd()
    os.chdir(made)
    # A report at one width and at another, and the commands that both suggest.
    with kept_datasets():
        yield
    os.chdir(before)


@pytest.mark.parametrize(("story", "width"), list(product(CAPTURES, WIDTHS)))
def test_the_report_is_the_one_that_was_read(story: str, width: int) -> None:
    assert printed(story, width) == (REPORTS / f"{story}.{width}.txt").read_text()


# These suggest the most, and nothing that `throttle` or an incident does not.
@pytest.mark.parametrize(
    "story", [story for story in CAPTURES if story not in ("cluster", "groups_classic", "old_java", "samples") or LONG]
)
def test_what_is_suggested_can_be_pasted(story: str, capsys: pytest.CaptureFixture[str]) -> None:
    typed(story)
    commands = {line for width in WIDTHS for line in suggested((REPORTS / f"{story}.{width}.txt").read_text())}
    assert commands or story in PARTS
    for line in sorted(commands):
        program, *words = shlex.split(line)
        assert program == "kanalyze" and words[-1] in (name_of(story), "cluster.*", "0"), line
        assert main(words) == 0, line
        assert len(capsys.readouterr().out.splitlines()) > 1, line


@pytest.mark.parametrize("story", ["broker_killed", "samples"])
def test_the_headline_counts_the_clients_that_are_listed(story: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clients", "--limit", "0", "--format", "jsonl", name_of(story)]) == 0
    listed = len(capsys.readouterr().out.splitlines())
    assert f", {listed} clients, " in (REPORTS / f"{story}.120.txt").read_text()


if __name__ == "__main__":  # writes the reports anew: read the difference before it is committed
    import tempfile

    os.chdir(made_now := tempfile.mkdtemp())
    placed(Path(made_now))
    for each in CAPTURES:
        for cells in WIDTHS:
            (REPORTS / f"{each}.{cells}.txt").write_text(printed(each, cells))
