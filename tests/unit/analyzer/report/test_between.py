"""What stands between clients and brokers: one line says what an address carries on, to however many brokers."""

from __future__ import annotations

from typing import Any

from analyzer.report import between


def row(behind: str, **more: Any) -> dict[str, Any]:
    own = {"sort": "proxy", "address": "10.0.0.5", "port": 9200, "behind": behind, "behind_client": None, "proxies": 1}
    counts = {"connections": 1, "requests": 3, "proxy_ns": 150_000, "around": 0, "is_named": False, "total_rows": 5}
    return {**own, **counts, **more}


def test_a_balancer_is_one_line() -> None:
    rows = [
        row("10.0.1.1:9092", around=2, is_named=True),
        row("10.0.1.2:9092", requests=4, proxy_ns=950_000, around=5),
        row("10.0.1.3:9092", proxy_ns=None, around=1, is_named=True),
        row("\x1b[1m:9092"),
        row("10.0.1.1:9092", proxies=2, requests=1),
    ]
    assert between.sentences(rows) == [
        "Proxy: 10.0.0.5:9200 carries 13 requests on to 10.0.1.1:9092, 10.0.1.2:9092, 10.0.1.3:9092 and 1 more, which takes "
        "0.15 ms to 0.95 ms of their latency (median); counted once. 8 requests of its clients go around it, as Metadata names "
        "10.0.1.1:9092 and 10.0.1.3:9092.",
        "Proxy: 10.0.0.5:9200 carries 1 request on to 10.0.1.1:9092 over 2 proxies, which takes 0.15 ms of their latency "
        "(median); counted once.",
    ]


def test_captured_names_are_harmless_and_what_is_left_out_is_counted() -> None:
    rows = [row("\x1b[1m:9092", address=f"10.0.0.{n}", total_rows=7, proxy_ns=None) for n in range(5)]
    *lines, last = between.sentences(rows)
    assert lines == [f"Proxy: 10.0.0.{n}:9200 carries 3 requests on to \\x1b[1m:9092; counted once." for n in range(4)]
    assert last == "3 more translations or proxies: kanalyze sql CAPTURE"


def test_what_a_host_redirects_to_its_own_proxy_is_named_by_all_its_addresses() -> None:
    rows = [row("10.96.0.10:9092, 127.0.0.1:15001", sort="redirect", address="10.0.1.1", port=9092, total_rows=1)]
    assert between.sentences(rows) == [
        "Address translation: requests to 10.96.0.10:9092 are redirected on their own host to a proxy at 127.0.0.1:15001, which "
        "carries them on to 10.0.1.1:9092; 1 connection was captured on each leg, counted once."
    ]
    rows = [row("127.0.0.1:15001", sort="redirect", address="10.0.1.1", port=9092, total_rows=1)]
    assert between.sentences(rows) == [
        "Address translation: requests to 10.0.1.1:9092 are redirected on their own host to a proxy at 127.0.0.1:15001, which "
        "carries them on to 10.0.1.1:9092; 1 connection was captured on each leg, counted once."
    ]


def test_ports_of_one_host_that_ends_tls_are_one_line() -> None:
    rows = [
        row("10.0.1.1:9092", sort="tls", port=9201, connections=5, total_rows=3),
        row("10.0.1.2:9092", sort="tls", port=9202, connections=3),
        row("10.0.1.1:9092", sort="tls", port=9202),
    ]
    assert between.sentences(rows) == [
        "TLS ends at 10.0.0.5:9201 and 10.0.0.5:9202: a proxy there speaks plainly to 10.0.1.1:9092 and 10.0.1.2:9092 (9 "
        "connections seen beside TLS ones of clients)."
    ]
