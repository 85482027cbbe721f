"""Captures as a person would type them again: what a shell makes of it are the same files, whatever their names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from analyzer.base import retyped_inputs
from analyzer.base.options import Options

NAMES = [
    [f"broker.{number:02}.pcap.zst" for number in range(11)],
    [*(f"broker.{number:02}.pcap.zst" for number in range(11)), "broker.11.pcap"],
    [f"part {number}'[a]*.pcap" for number in range(5)],
    ["a.pcap", "aa.pcap", "aaa.pcap", "b.pcap", "ba.pcap"],
    [f"-{number}.pcap" for number in range(5)],
]


@pytest.mark.parametrize("place", ["", "{}/", "./"])
@pytest.mark.parametrize("names", NAMES)
def test_a_shell_finds_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], place: str
) -> None:
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    inputs = [place.format(tmp_path) + name for name in names]
    typed = retyped_inputs.arguments(inputs, Options(ports=(9092,)))
    assert len(typed) < len(" ".join(inputs))
    found = subprocess.run(["sh", "-c", f"printf '%s\\0' {typed}"], capture_output=True, check=True, text=True)
    assert sorted(found.stdout.split("\0")[:-1]) == sorted([*inputs, "--ports", "9092"])


@pytest.mark.parametrize("other", ["broker.08.pcap", "broker.0x.pcap"])
def test_files_among_others_have_no_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = [f"broker.{number:02}.pcap" for number in range(8)]
    for name in (*inputs, other):
        (tmp_path / name).touch()
    assert retyped_inputs.arguments(inputs, Options()) == retyped_inputs.PLACEHOLDER


@pytest.mark.parametrize(
    ("inputs", "typed"),
    [
        (["a b.pcap", "c.pcap"], "'a b.pcap' c.pcap"),
        (["-"], "CAPTURE"),
        (["x\x1b.pcap"], "CAPTURE"),
        ([f"s3://bucket/{number}.pcap" for number in range(9)], "CAPTURE"),
        ([f"gone/{number}.pcap" for number in range(9)], "CAPTURE"),
    ],
)
def test_what_is_typed(inputs: list[str], typed: str) -> None:
    assert retyped_inputs.arguments(inputs, Options()) == typed
    assert os.sep not in retyped_inputs.PLACEHOLDER
