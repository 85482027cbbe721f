"""The tables that a release adds to: keys, error codes, headers, readiness. Text in, text out; rows that stand there stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

GONE = "32767"


def _rows(text: str) -> tuple[str, list[list[str]]]:
    head, *lines = text.splitlines()
    return head, [line.split("\t") for line in lines]


def _text(head: str, rows: Iterable[list[str]]) -> str:
    return "\n".join([head, *("\t".join(row) for row in rows)]) + "\n"


def known_keys(text: str, keys: list[dict[str, Any]], flexible: dict[int, str]) -> str:
    """`api_keys.tsv` of the definitions: key, name, first, last, flexible_from; a name that changed is the newest."""
    head, rows = _rows(text)
    known = {int(row[0]): row for row in rows}
    for key in keys:
        _, _, first, last, since = known.get(key["key"], ["", "", key["first"], key["last"], flexible[key["key"]]])
        span = (str(min(int(first), key["first"])), str(max(int(last), key["last"])))
        known[key["key"]] = [str(key["key"]), key["name"], *span, since]
    return _text(head, (known[key] for key in sorted(known)))


def known_errors(text: str, errors: list[dict[str, Any]]) -> str:
    """`error_codes.tsv` of the definitions: code, name, retriable."""
    head, rows = _rows(text)
    known = {int(row[0]): row for row in rows}
    known |= {each["code"]: [str(each["code"]), each["name"], str(each["retriable"]).lower()] for each in errors}
    return _text(head, (known[code] for code in sorted(known)))


def listed_keys(text: str, release: str, keys: list[dict[str, Any]], flexible: dict[int, str]) -> str:
    """`api_keys.tsv` of the reference, with the rows of a release."""
    head, rows = _rows(text)
    kept = [row for row in rows if row[0] != release]
    for key in keys:
        words = (key["key"], key["name"], key["first"], key["last"], flexible[key["key"]], str(key["unstable"]).lower())
        kept.append([release, *map(str, words)])
    return _text(head, kept)


def listed_errors(text: str, release: str, errors: list[dict[str, Any]]) -> str:
    """`error_codes.tsv` of the reference: code, name, retriable, exception, since_at_least."""
    head, rows = _rows(text)
    known = {int(row[0]): row for row in rows}
    for each in errors:
        since = known.get(each["code"], [release])[-1]
        words = (each["code"], each["name"], str(each["retriable"]).lower(), each["exception"], since)
        known[each["code"]] = [str(word) for word in words]
    return _text(head, (known[code] for code in sorted(known)))


def listed_headers(text: str, keys: list[dict[str, Any]]) -> str:
    """`header_versions.tsv` of the reference: key, name, version, request_header, response_header."""
    head, rows = _rows(text)
    known = {(int(row[0]), int(row[2])): row for row in rows}
    for key in keys:
        for version, headers in enumerate(key["headers"], key["first"]):
            words = (key["key"], key["name"], version, *headers)
            known[key["key"], version] = [str(word) for word in words]
    return _text(head, (known[place] for place in sorted(known)))


def releases(text: str, label: str) -> str:
    """`kafka_releases.tsv` with the release as its newest."""
    head, rows = _rows(text)
    return text if any(row[0] == label for row in rows) else _text(head, [*rows, [label, str(int(rows[-1][1]) + 1)]])


def release_versions(text: str, before: str, label: str, release: str, keys: list[dict[str, Any]]) -> str:
    """`release_versions.tsv`: a row of the newest release so far is valid for the new one too, or is followed by another."""
    head, rows = _rows(text)
    takes = {key["key"]: [key["first"], key["last"] - key["unstable"], key["last"] + 1] for key in keys}
    names = {key["key"]: key["name"] for key in keys}
    source = f"message definitions of Apache Kafka {release}"
    found: list[list[str]] = []
    for row in rows:
        found.append(row)
        if row[3] != before:
            continue
        wanted = [str(word) for word in takes.get(int(row[0]), (GONE, "", ""))]
        if row[4:7] == wanted:
            row[3] = label
        else:
            found.append([*row[:2], label, label, *wanted, source])
    new = takes.keys() - {int(row[0]) for row in rows if row[3] in (before, label)}
    found += [[str(key), names[key], label, label, *map(str, takes[key]), source] for key in new]
    return _text(head, sorted(found, key=lambda row: int(row[0])))
