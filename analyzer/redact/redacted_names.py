"""The names of addresses (`--names`) for a redacted capture: a file with the pseudonyms that the capture has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from analyzer.names.name_table import FIELDS, Names
from analyzer.redact import needles
from analyzer.redact.pseudonyms import Pseudonyms
from analyzer.redact.verification import stays

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Kinds of Kubernetes itself; that of an own resource, or a team before a slash, may name its company.
_KINDS = frozenset(("cronjob", "daemonset", "deployment", "job", "node", "pod", "replicaset", "statefulset"))


def as_tsv(names: Names, pseudonyms: Pseudonyms) -> str:
    """The file. A zone is redacted as racks are, and a host as brokers' are: what was equal in capture and names still is."""
    return "".join("\t".join(cells) + "\n" for cells in (("address", "from", "to", *FIELDS), *_rows(names, pseudonyms)))


def sought(names: Names) -> set[bytes]:
    """What no redacted file may have of them: values that are long enough to say something where they are found."""
    values: set[bytes] = set()
    for row in names.rows:
        kind, mark, name = (row.workload or "").partition("/")
        told = (
            row.address,
            row.host,
            row.pod,
            row.namespace,
            row.zone,
            name if mark and kind in _KINDS else row.workload,
        )
        values |= {value.encode() for value in told if value}
    return {value for value in values if needles.is_sought(value) and not stays("host", value)}


def kept(values: set[bytes], written: str) -> list[str]:
    """A line for each of these values that the file beside the capture has all the same."""
    found = needles.Needles(values).found_in([written.encode()])
    return [f"a name of {len(form)} bytes is at byte {offset} of the file with names" for offset, form in found]


def _rows(names: Names, pseudonyms: Pseudonyms) -> Iterator[tuple[str, ...]]:
    for row in names.rows:
        told = {field: getattr(row, field) for field in FIELDS}
        kind, mark, name = (told["workload"] or "").partition("/")
        host = _text(pseudonyms.host, told["host"])
        pod, namespace, zone = (_text(pseudonyms.name, told[field]) for field in ("pod", "namespace", "zone"))
        kind = kind if mark and kind in _KINDS else _text(pseudonyms.name, kind)
        workload = kind + mark + _text(pseudonyms.name, name)
        address = _text(pseudonyms.host, row.address)
        yield address, _moment(row.begin_ns), _moment(row.end_ns), host, pod, namespace, workload, zone


def _text(redact: Callable[[bytes], bytes], value: str | None) -> str:
    return redact(value.encode()).decode() if value else ""


def _moment(ns: int | None) -> str:
    return "" if ns is None else (_EPOCH + timedelta(microseconds=ns // 1_000)).isoformat()
