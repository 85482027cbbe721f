"""Words of the command line as values."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cli.values import DecodeAs, Ports, Size, Span, TimeRange, UtcTime
from dissectors.packet.udp_ports import TUNNELS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("65536", 65536),
        ("64k", 65536),
        ("1MB", 1 << 20),
        ("2GiB", 2 << 30),
        ("3 m", 3 << 20),
        ("1T", 1 << 40),
    ],
)
def test_sizes(text: str, value: int) -> None:
    assert Size().convert(text, None, None) == value


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5G", "k", "1kk", "0x10", "ten"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Size().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("500ms", 500_000_000),
        ("10s", 10_000_000_000),
        ("1.5m", 90_000_000_000),
        ("2 min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("0.000000001s", 1),
    ],
)
def test_spans(text: str, ns: int) -> None:
    assert Span().convert(text, None, None) == ns


@pytest.mark.parametrize("text", ["", "10", "0s", "-1s", "1w", "1..5s", "s", "1e3s", "0.0000000001s"])
def test_no_spans(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Span().convert(text, None, None)


def test_ports() -> None:
    assert Ports().convert("9092, 9093,19092", None, None) == (9092, 9093, 19092)
    for text in ("", ",", "0", "65536", "a", "9092;9093", "-1", "\u0669"):
        with pytest.raises(click.BadParameter):
            Ports().convert(text, None, None)


def test_decode_as_has_the_spelling_and_the_names_of_wireshark() -> None:
    assert DecodeAs().convert("udp.port==48879,vxlan", None, None) == (48_879, "vxlan")
    assert DecodeAs().convert(" udp.port == 1, lisp-data", None, None) == (1, "lisp-data")
    for text in (
        "",
        "udp.port==0,vxlan",
        "udp.port==65536,vxlan",
        "udp.port=1,vxlan",
        "tcp.port==1,vxlan",
        "udp.port==1",
    ):
        with pytest.raises(click.BadParameter, match="like udp"):
            DecodeAs().convert(text, None, None)
    with pytest.raises(click.BadParameter, match="not a supported tunnel"):
        DecodeAs().convert("udp.port==1,vxlam", None, None)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("name", [name for name in TUNNELS if name != "gue"])
def test_tshark_knows_the_tunnel_by_the_same_name(name: str) -> None:
    done = subprocess.run(
        ["tshark", "-d", f"udp.port==48879,{name}", "-r", "/dev/null"], capture_output=True, check=False
    )
    assert b"Unknown protocol" not in done.stderr
    assert b"Valid protocols" not in done.stderr


@given(st.integers(0, 4102444800 * 10**9 - 1), st.integers(-14 * 60, 14 * 60))
def test_a_time_written_in_any_zone_comes_back(time_ns: int, minutes: int) -> None:
    seconds, rest = divmod(time_ns, 10**9)
    local = datetime.fromtimestamp(seconds, UTC) + timedelta(minutes=minutes)
    sign, size = ("-" if minutes < 0 else "+"), abs(minutes)
    text = f"{local:%Y-%m-%dT%H:%M:%S}.{rest:09d}{sign}{size // 60:02d}:{size % 60:02d}"
    assert UtcTime().convert(text, None, None) == time_ns


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-05-01", 1777593600),
        ("2026-05-01 10:59", 1777633140),
        ("2026-05-01T10:59:12", 1777633152),
        ("2026-05-01T10:59:12Z", 1777633152),
    ],
)
def test_times_are_utc(text: str, seconds: int) -> None:
    """Expected values are those of `date -u -d TEXT +%s`."""
    assert UtcTime().convert(text, None, None) == seconds * 10**9


@pytest.mark.parametrize("text", ["", "10:59", "2026-13-01", "2026-05-01T25:00", "2026-05-01T10:59:12.1234567890"])
def test_no_times(text: str) -> None:
    with pytest.raises(click.BadParameter):
        UtcTime().convert(text, None, None)


def test_a_range_of_time() -> None:
    hour = 3600 * 10**9
    assert TimeRange().convert("2026-05-01..2026-05-02T01:00", None, None) == (
        1777593600 * 10**9,
        1777593600 * 10**9 + 25 * hour,
    )


@pytest.mark.parametrize(
    "text", ["", "2026-05-01", "2026-05-01..", "..2026-05-01", "2026-05-02..2026-05-01", "2026-05-01..2026-05-01"]
)
def test_no_range_of_time(text: str) -> None:
    with pytest.raises(click.BadParameter):
        TimeRange().convert(text, None, None)
