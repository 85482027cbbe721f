"""Findings that are about addresses with a name: what the sentence says beside the address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.names.name_table import who
from analyzer.query.narrowed import can_narrow

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

# What may be an address within a text: of IPv4, or of IPv6 with two colons at least, without a port.
_ADDRESS = re.compile(r"(?<![\w.:])(?:\d+(?:\.\d+){3}|[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F.]*)(?![\w.])")
_NAMED = """
SELECT DISTINCT client_address AS address, client_host AS client_host, client_pod, client_namespace FROM connections
WHERE coalesce(client_host, client_pod) IS NOT NULL
UNION
SELECT DISTINCT broker_address, broker_host, broker_pod, NULL FROM connections WHERE coalesce(broker_host, broker_pod) IS NOT NULL
ORDER BY ALL
"""


def add_names(dataset: Dataset, rows: Sequence[dict[str, Any]]) -> None:
    """Gives each row about addresses with a name a column `names`: address -> its name."""
    # A capture that was just read has no names but those that were given.
    if not rows or (dataset.names is None and can_narrow(dataset)):
        return
    known = {row["address"]: who(row) for row in dataset.ask(_NAMED)}
    for row in rows if known else ():
        texts = (value for value in row.values() if isinstance(value, str))
        found = {each for text in texts for each in _ADDRESS.findall(text) if each in known}
        if found:
            row["names"] = {each: known[each] for each in sorted(found)}


def with_names(text: str, names: dict[str, str]) -> str:
    """The text with a name behind each address that has one: 10.0.0.1:9092 (kafka-1)."""

    def named(found: re.Match[str]) -> str:
        return f"{found[0]} ({names[found[1]]})" if found[1] in names else found[0]

    return re.sub(rf"\[?({_ADDRESS.pattern})\]?(?::\d+)?", named, text)
