"""Two captures that tell the same but for names: every row of every table, as numbers, and one name for each name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from analyzer.base import tables
from analyzer.base.options import Options
from analyzer.run import local

# Ids hash addresses; sizes and formats of files are no matter of what was captured, nor are headers that a redacted packet lacks.
_IDS = {
    "exchange", "connection", "path", "bytes_read", "format", "file_bytes", "size_bytes", "tls_certificate", "topic_id",
    "cluster", "problem", "tls_valid_from_ns", "tls_valid_until_ns", "head", "reason", "detail", "bytes", "crc",
    "client_wire_bytes", "broker_wire_bytes",
}  # fmt: skip


def differences(before: Path | list[Path], after: Path, options: Options | None = None) -> list[str]:
    """What is not the same, a line each; empty where all is."""
    inputs = [str(each) for each in (before if isinstance(before, list) else [before])]
    found = []
    names: dict[str, set[str]] = {}
    with (
        local.open_dataset(inputs, options or Options()) as old,
        local.open_dataset([str(after)], options or Options()) as new,
    ):
        for table in tables.TABLES:
            if table == "captures":
                continue
            one, other = (each.query(f"SELECT * FROM {table}") for each in (old, new))
            found += _compare(table, one, other)
            if table == "exchanges":
                found += _map(one, other, names)
    return found


def _numbers(row: dict[str, Any]) -> tuple[Any, ...]:
    kept = []
    for name, value in row.items():
        if (
            name in _IDS
            or isinstance(value, (str, list, dict))
            or name.endswith(("_file", "_packet"))
            or name in ("file", "packet")
        ):
            continue
        kept.append((name, value))
    return tuple(kept)


def _compare(table: str, one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[str]:
    was, now = (Counter(_numbers(row) for row in rows) for rows in (one, other))
    gone, new = was - now, now - was
    if not gone and not new:
        return []
    lines = [f"{table}: {sum(gone.values())} of {len(one)} rows are not there any more, {sum(new.values())} are new"]
    for row, fresh in zip(sorted(gone, key=str)[:2], sorted(new, key=str)[:2], strict=False):
        lines.append(
            "  "
            + ", ".join(
                f"{name} {value!r} -> {dict(fresh).get(name)!r}"
                for name, value in row
                if dict(fresh).get(name) != value
            )
        )
    return lines


def _map(one: list[dict[str, Any]], other: list[dict[str, Any]], names: dict[str, set[str]]) -> list[str]:
    """Each text of an exchange becomes one other text."""

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(
            (-1 if row[each] is None else row[each])
            for each in ("first_time_ns", "request_end_ns", "correlation_id")
            if each in row
        )

    lines = []
    for old, new in zip(sorted(one, key=key), sorted(other, key=key), strict=False):
        for name, value in old.items():
            if isinstance(value, str) and name not in _IDS:
                names.setdefault(f"{name}={value}", set()).add(str(new[name]))
    lines += [f"{name} became {sorted(became)[:4]}" for name, became in names.items() if len(became) > 1]
    back: dict[str, set[str]] = {}
    for name, became in names.items():
        for each in became:
            back.setdefault(f"{name.partition('=')[0]}={each}", set()).add(name)
    return lines[:5] + [f"{sorted(came)[:3]} became one" for came in back.values() if len(came) > 1][:5]
