"""Kafka: the messages in a stream of bytes; nothing here knows where the bytes come from.

- `schema/definitions` holds every API and version since 0, a file each. Two readers run them. `messages/` is the
  reference: a tree with offsets, partial where bytes are missing; `show`, `dump` and `decode` use it. `columns/` is
  the fast one: a schema becomes a flat program of integers, which the compiled walker runs. Tests hold one against
  the other.
- What a request waits for is decided where request and reply are paired: `exchanges` sees the replies of a connection
  in order, so it knows when the previous one ended and how long a throttle time runs on. So SQL needs no window
  function over all exchanges for `service_ns`.
- Facts that many messages repeat (metadata, offered versions) are written once: `raw_told` gives the number of
  the body that an exchange carried. Heartbeats that tell nothing new leave no row.

- Of a message newer than its schema only what proves itself is read (`dissectors/kafka/schema/newer_versions.py`).
"""
