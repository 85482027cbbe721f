"""A request that was lost on its way was not at the broker meanwhile: no capture may say that it surely was. How long a line
was dead is told as bounds, and what was done lies between them."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import zstandard

import analyzer
from lab.score import DATA

_SLACK_NS = 50_000_000  # what a busy machine leaves unread in a socket


def test_a_lost_request_is_not_the_brokers_time() -> None:
    name = "cut_off_client"
    packed = (DATA / f"{name}.requests.tsv.zst").read_bytes()
    log = csv.DictReader(io.StringIO(zstandard.decompress(packed).decode()), delimiter="\t")
    # broker:port-client:port-index
    took = {
        (row["connection"].split("-")[1], int(row["correlation_id"])): float(row["total_ms"]) * 1e6
        for row in log
        if row["api"] == "PRODUCE"
    }
    query = (
        "SELECT client_address || ':' || client_port AS client, correlation_id, broker_min_ns, latency_ns FROM exchanges "
        "WHERE api_name = 'Produce' AND status = 'answered'"
    )
    with analyzer.read(DATA / f"{name}.pcap.zst") as capture:
        rows = capture.sql(query).to_pylist()
    late = [row for row in rows if row["latency_ns"] >= 3_000_000_000]
    assert len(late) > 10
    wrong = [
        row for row in late if (row["broker_min_ns"] or 0) > took[row["client"], row["correlation_id"]] + _SLACK_NS
    ]
    assert not wrong


@pytest.mark.parametrize("name", ["cut_off", "cut_off_client", "cut_off_tls", "line_flaps_tls"])
def test_how_long_a_line_was_dead_lies_between_the_bounds(name: str) -> None:
    done = "\n".join(json.loads((DATA / f"{name}.json").read_text())["done"])
    times = [float(seconds) * 1e9 for seconds in re.findall(r"for ([\d.]+) s: .*dead", done)]
    with analyzer.read(DATA / f"{name}.pcap.zst") as capture:
        (found,) = (each for each in capture.findings if each.name == "line_dead")
    assert (found.numbers["least_ns"] or 0) <= max(times) <= found.numbers["silent_ns"]
    assert found.numbers["times"] == len(times)
    assert (found.numbers["least_ns"] is None) == (found.numbers["at_most"] is not None)
