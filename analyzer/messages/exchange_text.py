"""One exchange as text for a person: who, when, how long, and both messages with the place of every value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.base.text import exchange_id, input_name
from analyzer.base.wait_kinds import BROKER, kind_of
from analyzer.messages import packet_search
from analyzer.messages.render import Renderer
from analyzer.messages.tree import tree
from analyzer.report.format import count, duration, endpoint, milliseconds, moment, safe
from analyzer.report.latency_components import PARTS
from analyzer.report.log_parts import account
from dissectors.kafka.messages.explain import explain

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset
    from dissectors.kafka.messages.explain import Explained

_ID = re.compile(r"[0-9a-f]{16}", re.IGNORECASE)
_TIMES = (("send", "send_ns"), ("latency", "latency_ns"), ("receive", "receive_ns"), ("total", "total_ns"))
# Parts of the total, as the view `exchange_parts` has them, by their names in `latency_components`.
PART_COLUMNS = {
    "send": "send_ns",
    "queue": "queue_part_ns",
    "muted": "throttle_part_ns",
    "proxy": "proxy_part_ns",
    "broker": "broker_part_ns",
    "network": "network_ns",
    "unknown": "unknown_ns",
    "receive": "receive_ns",
}
# What `broker_evidence` means: how the time in the broker is known, or why it is not.
_EVIDENCE = {
    "beside": "the capture was taken beside the broker",
    "ack": "the broker's host sent an ACK at once",
    "idle": "nothing else was in flight",
    "reply": "the broker began when the reply before had left",
    "mute": "the broker began when the throttle ended",
    "held": "the reply may have waited in the broker's host",
    "large": "the reply took long to send",
    "no_timestamps": "packets may have waited in queues, and carry no timestamps",
    "clock": "timestamps contradict the order of packets",
    "wide": "the capture does not allow closer bounds",
}


class Context(NamedTuple):
    """What tables say about shown exchanges: paths of inputs by number, names of topics by id, parts of the total (a row of
    the view `exchange_parts`) by exchange.
    """

    paths: Mapping[int, str]
    topics: Mapping[str, str]
    parts: Mapping[int, Mapping[str, Any]]


def context(dataset: Dataset, exchanges: Sequence[int]) -> Context:
    """What the tables say about these exchanges. Raises DatasetError."""
    wanted = ", ".join(map(str, exchanges))
    columns = ", ".join(PART_COLUMNS.values())
    return Context(
        {row["file"]: input_name(row["path"]) for row in dataset.query("SELECT file, path FROM captures")},
        # An id is that of one topic; were it not, its name would not be known.
        {
            row["topic_id"]: row["topic"]
            for row in dataset.query(
                "SELECT topic_id, max(topic) AS topic FROM all_topic_ids GROUP BY topic_id HAVING count(DISTINCT topic) = 1"
            )
        },
        {
            row["exchange"]: row
            for row in dataset.query(f"SELECT exchange, {columns} FROM exchange_parts WHERE exchange IN ({wanted})")
        },
    )


NEITHER = "{word!r} is neither an exchange (16 hex digits) nor a packet (1234, '#1234' or FILE:1234)"


def names_exchange(word: str) -> bool:
    """Whether a word can mean an exchange: 16 hex digits, or a packet (1234, '#1234' or FILE:1234)."""
    return _ID.fullmatch(word) is not None or packet_search.is_packet(word)


def matching(
    dataset: Dataset, inputs: Sequence[str], options: Options, word: str, rewind: Callable[[], object] = lambda: None
) -> list[int]:
    """Ids of the exchanges that the word (see `names_exchange`) means: an id, or a packet of a message. `rewind` is called before
    the captures are read again for it.

    Empty when there is none. Raises ValueError for a word that names none and where several captures have the packet, InputError.
    """
    if not names_exchange(word):
        raise ValueError(NEITHER.format(word=word))
    if _ID.fullmatch(word):
        return [
            row["exchange"] for row in dataset.query(f"select exchange from exchanges where exchange = {int(word, 16)}")
        ]
    at = packet_search.place(dataset, word)
    if found := packet_search.beginning_in(dataset, at):
        return found
    rewind()
    return packet_search.passing_in(dataset, inputs, options, at)


def lines(
    about: Context, row: Mapping[str, Any], request: bytes | None, response: bytes | None, records: bool = False
) -> Iterator[str]:
    """The lines of one exchange: `row` of the table, the frames without their length fields; with `records` each record of each
    batch.

    Secrets are not shown.
    """
    yield f"exchange {exchange_id(row['exchange'])}  {_api(row)}  correlation id {row['correlation_id']}  {row['status']}"
    client = endpoint(row["client_address"], row["client_port"])
    broker = endpoint(row["broker_address"], row["broker_port"])
    yield f"client {safe(row['client_id'])} at {client}, broker at {broker}"
    times = [f"{name} {duration(row[column])}" for name, column in _TIMES if row[column] is not None]
    if row["throttle_time_ms"]:
        times.append(f"throttled {milliseconds(row['throttle_time_ms'])}")
    if times:
        yield ", ".join(times)
    if row["total_ns"]:
        yield f"where the time went: {_where(row, about.parts[row['exchange']])}"
    if told := account(row):
        yield f"the broker's log: {told}"
    asked = _explained(row, "request", request)
    answer = _explained(row, "response", response, asked)
    renderer = Renderer(records=records)
    renderer.allow_echoes(asked, answer)
    yield from _message(about, row, "request", asked, renderer)
    yield from _message(about, row, "response", answer, renderer)


def _api(row: Mapping[str, Any]) -> str:
    if row["api_name"] is None:
        return "unknown API"
    words = kind_of(row["kind"]).words
    return f"{row['api_name']} v{row['api_version']}" + (f", {words}" if words else "")


def _where(row: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """broker 2.1 ms, network 0.15 ms (known: ...): the largest first, and how the time in the broker is known."""
    times = {name: parts[column] for name, column in PART_COLUMNS.items()}
    if None in times.values():
        return "not known"
    kind = kind_of(row["kind"])
    words = {name: word for name, (word, _) in PARTS.items()} | {"unknown": "broker or network"}
    if kind.reach != BROKER and kind.words:
        words["broker"] += f" ({kind.words})"
    found = sorted((name for name in times if times[name]), key=lambda name: -times[name])
    told = ", ".join(f"{words[name]} {duration(times[name])}" for name in found)
    evidence = _EVIDENCE.get(row["broker_evidence"], "no evidence")
    if row["broker_ns"] is not None:
        return f"{told} (known: {evidence})"
    bounds = f"{duration(row['broker_min_ns'])} to {duration(row['broker_max_ns'])}"
    return f"{told}; the broker took {bounds}, not known more exactly: {evidence}"


def _explained(
    row: Mapping[str, Any], side: str, frame: bytes | None, asked: Explained | None = None
) -> Explained | None:
    """None: its bytes are not there. A response is understood with the request that it answers."""
    if frame is None or row["api_key"] is None:
        return None
    return explain(row["api_key"], row["api_version"], side, frame, asked)


def _message(
    about: Context, row: Mapping[str, Any], side: str, found: Explained | None, renderer: Renderer
) -> Iterator[str]:
    yield ""
    if row[f"{side}_time_ns"] is None:
        yield f"no {side} in the capture"
        return
    place = f"packet {count(row[f'{side}_packet'])} of {safe(about.paths[row[f'{side}_file']])}"
    when = f"{moment(row[f'{side}_time_ns'], 9)} UTC"
    yield f"{side}: {count(row[f'{side}_bytes'])} bytes, begins in {place}, {when}"
    if found is None:
        yield f"its bytes cannot be shown: {row[f'{side}_decoded']}"
        return
    yield from tree(found, renderer, about.topics)
