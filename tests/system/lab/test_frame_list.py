"""Every frame is where an independent counter found it: to the byte, to the nanosecond, none missing, none invented."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice

import pytest
from agreement import connection_name, frame_differences
from oracle import Capture, connection, read_frames
from paths import LAB
from program import Analyse


def test_every_frame_is_met(framed: Capture, analyse: Analyse) -> None:
    frames = read_frames(framed.frames)
    assert len(frames) == framed.fact("pcap_request_frames")
    assert not list(islice(frame_differences(analyse(framed.files).exchanges, frames), 20))


def test_sasl_tokens_are_kept_apart(framed: Capture, analyse: Analyse) -> None:
    """Bare tokens after SaslHandshake v0 are frames of kind `sasl_token`, each way, and no exchange of any API."""
    rows = [row for row in analyse(framed.files).exchanges if row["kind"] == "sasl_token"]
    truth = LAB / "TRUTH.json"
    if not truth.exists():
        pytest.skip("the list of SASL tokens lies with the lab's captures")
    tokens = json.loads(truth.read_text())[framed.name].get("sasl_tokens", [])
    theirs = Counter((connection(token["connection"]), token["bytes"] + 4, token["first_ns"]) for token in tokens)
    sides = (("request_bytes", "request_time_ns"), ("response_bytes", "response_time_ns"))
    ours = Counter(
        (connection_name(row), row[size], row[time]) for row in rows for size, time in sides if row[time] is not None
    )
    assert ours == theirs
