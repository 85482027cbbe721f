"""The cluster that a finding is about, where captures hold several: what one of them suffers does not explain another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.query.incidents import HOST

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

EVIDENCE = "evidence"


def clusters_of(dataset: Dataset, rows: Sequence[dict[str, Any]]) -> list[str | None]:
    """The cluster id of each row of a rule: that of its evidence, else the one that it names, else that of its connection. None:
    not known, or of several; of all, where the captures hold no two clusters whose ids are known. Raises DatasetError.
    """
    asked = "SELECT DISTINCT cluster FROM clustered_connections WHERE cluster IS NOT NULL"
    names = {each["cluster"] for each in dataset.ask(asked)} if rows else set()
    if len(names) < 2:
        return [None] * len(rows)
    of_exchanges = _asked(
        dataset,
        "SELECT exchange AS key, cluster FROM all_exchanges JOIN clustered_connections USING (connection) "
        "WHERE exchange IN ({keys})",
        {number for row in rows for number in exchanges(row)},
    )
    of_connections = _asked(
        dataset,
        "SELECT connection AS key, cluster FROM clustered_connections WHERE connection IN ({keys})",
        {row["connection"] for row in rows if row.get("connection") is not None},
    )
    spread = {each["who"] for each in dataset.ask("SELECT who FROM spread_clients")}

    def cluster(row: dict[str, Any]) -> str | None:
        told = {of_exchanges.get(number) for number in exchanges(row)} - {None}
        told = told or {row.get("cluster")} & names or {of_connections.get(row.get("connection"))} - {None}
        return told.pop() if len(told) == 1 and not (_is_of_a_name(row) and row["who"] in spread) else None

    return [cluster(row) for row in rows]


def exchanges(row: dict[str, Any]) -> list[int]:
    """The exchanges that a row of a rule names as its evidence, without repetition."""
    values = (value for name, value in row.items() if name.startswith(EVIDENCE))
    return list(dict.fromkeys(value for value in values if value is not None))


def _asked(dataset: Dataset, question: str, keys: set[int]) -> dict[int | None, str | None]:
    if not keys:
        return {}
    found = dataset.ask(question.format(keys=", ".join(map(str, sorted(keys)))))
    return {row["key"]: row["cluster"] for row in found}


def _is_of_a_name(row: dict[str, Any]) -> bool:
    """Of a client at all brokers that it asks: the evidence of such a row is some of what it is made from."""
    return row.get("who") is not None and not any(row.get(name) for name in ("cluster", "broker", HOST))
