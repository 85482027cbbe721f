"""Stories of clients that are told an address of a broker, and of what they do then."""

from __future__ import annotations

from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, exchange

Tables = dict[str, Rows]


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def told_a_name(host: str = "kafka-1.internal", lasted_s: float = 12, then: int = 0, went: bool = False) -> Tables:
    """A client of a group that is told its coordinator, by this name, and is silent from then on; `then`: an API that it asks for;
    `went`: it connects to another address."""
    rows = [exchange(0), exchange(1, at_ns=at(1), api_key=10, api_name="FindCoordinator", error_code=0)]
    rows += [exchange(2, at_ns=at(2), api_key=then)] if then else []
    links = [connection(1, cluster="c", last_time_ns=at(lasted_s))]
    links += [connection(2, broker_address="10.0.1.9", first_time_ns=at(2))] if went else []
    told = {"cluster": "c", "broker_id": 1, "host": host, "port": 9092, "first_time_ns": at(0), "last_time_ns": at(2)}
    whole = capture(last_time_ns=at(lasted_s))
    return {"connections": links, "exchanges": rows, "brokers": [told], "captures": [whole]}


def back_for_metadata(times: int, then: int = 3, port: int = 9092) -> Tables:
    """A client that is told a name, and comes back for a topic's metadata so often; `then`: what it asks for the second time."""
    links = [connection(1 + n, cluster="c") for n in range(times)]
    rows = [
        exchange(n, at_ns=at(6 * n), connection=1 + n, api_key=then if n == 1 else 3, topics=1) for n in range(times)
    ]
    return {
        "connections": links,
        "exchanges": rows,
        "brokers": [{"cluster": "c", "broker_id": 1, "host": "kafka", "port": port}],
    }


def first_of_all(asks: int, lasted_s: float, topics: int = 1, **more: Any) -> Tables:
    """A client that asks for the metadata of a topic, is told a name, asks for one thing, and is silent from then on; `more`: an
    exchange besides."""
    story = told_a_name(lasted_s=lasted_s)
    story["exchanges"][0] |= {"topics": topics}
    story["exchanges"][1] |= {"api_key": asks, "api_name": "another"}
    story["exchanges"] += [exchange(2, **{"at_ns": at(0.5)} | more)] if more else []
    return story


def never_led_there(tried_s: float = 4, packets: int = 3, alive_s: float = 9, back: bool = False) -> Tables:
    """A client that is told the addresses of two brokers, and sends so many SYNs to each, in vain, in so many seconds; until
    `alive_s` the brokers answer another client elsewhere; `back`: the first client's connection is used again."""
    silent = {"is_kafka": None, "syn_ack_ns": None, "client_stream_bytes": 0, "broker_stream_bytes": 0, "close": "none"}
    silent |= {"first_time_ns": at(1), "last_time_ns": at(1 + tried_s), "client_packets": packets, "protocol": None}
    heard = {"cluster": "c", "replies": 1, "broker_port": 9092}
    links = [connection(1, cluster="c", replies=1, last_time_ns=at(3 if back else 1), broker_address="10.9.0.1")]
    told = []
    for n in (1, 2):
        links += [connection(1 + n, broker_address=f"10.9.9.{n}", broker_port=9094, **silent)]
        links += [
            connection(
                4 + n, broker_address=f"10.0.1.{n}", client_address="10.0.0.7", last_time_ns=at(alive_s), **heard
            )
        ]
        told += [{"cluster": "c", "broker_id": n, "host": f"10.9.9.{n}", "port": 9094}]
        told += [{"cluster": "c", "broker_id": n, "host": f"10.0.1.{n}", "port": 9092}]
    return {"connections": links, "exchanges": [exchange(0, broker_address="10.9.0.1")], "brokers": told}


def asks_meanwhile(last_s: float = 6, packets: int = 10, asks: int = 3, own: bool = False) -> Tables:
    """`never_led_there`, by a client that asks so often, the last time at `last_s`; `own`: where it asks is advertised, too."""
    story = never_led_there(packets=packets, alive_s=1)
    moments = [last_s * n / (asks - 1) for n in range(asks)]
    rows = [exchange(n, broker_address="10.9.0.1", at_ns=at(when)) for n, when in enumerate(moments)]
    told = [{"cluster": "c", "broker_id": 3, "host": "10.9.0.1", "port": 9092}] * own
    return story | {"exchanges": rows, "brokers": story["brokers"] + told}
