"""Limits on mapped memory: a run begins where it can end, else it says so in a line; never by chance."""

from __future__ import annotations

import resource
import subprocess

import pytest
from kanalyze_process import COMMAND
from paths import ROOT

from analyzer.base import address_space
from analyzer.base.address_space import LEAST_DATA, LEAST_MAPPED


def limited(letter: str, limit: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A run whose process may map so many bytes."""
    kind = {"v": resource.RLIMIT_AS, "d": resource.RLIMIT_DATA}[letter]

    def limit_it() -> None:
        resource.setrlimit(kind, (limit, limit))

    return subprocess.run([*COMMAND, *words], capture_output=True, cwd=ROOT, timeout=60, preexec_fn=limit_it)


@pytest.mark.parametrize(("letter", "limit"), [("v", 300_000_000), ("v", 1_024_000_000), ("d", 500_000_000)])
def test_too_little_is_said_in_a_line(letter: str, limit: int) -> None:
    done = limited(letter, limit, "report", "samples/sweep_43.pcap.zst")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert f"`ulimit -{letter}` leaves".encode() in done.stderr


@pytest.mark.parametrize(("letter", "limit"), [("v", LEAST_MAPPED), ("d", LEAST_DATA)])
def test_what_suffices_suffices(letter: str, limit: int) -> None:
    whole = subprocess.run([*COMMAND, "report", "samples/versions.pcap.zst"], capture_output=True, cwd=ROOT, timeout=60)
    done = limited(letter, limit, "report", "samples/versions.pcap.zst")
    assert (done.returncode, done.stdout) == (0, whole.stdout)


def test_what_reads_no_capture_needs_little() -> None:
    assert limited("v", 150_000_000, "--version").returncode == 0


def test_without_a_limit_there_are_as_many_threads_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, threads in ((resource.RLIM_INFINITY, None), (4 << 30, 1), (1 << 40, None)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert address_space.threads() == threads


def test_a_thread_or_a_library_without_room_is_no_bug() -> None:
    from analyzer.cli.outcome import UNREADABLE, explain

    for error in (
        RuntimeError("can't start new thread"),
        ImportError("/x/_duckdb.so: failed to map segment from shared object"),
        ImportError("libarrow.so: cannot open shared object file: Cannot allocate memory"),
    ):
        assert explain(error) == UNREADABLE
