"""The broker's own log of requests (`kafka.request.logger`), read beside a capture (`--request-log`), or in place of one.

- `log_lines.py` reads one line: JSON as brokers from 2.8 on write it, or the text of older ones, behind whatever a layout of log4j
  puts before it. Of the bodies, which may hold tokens, nothing is taken but the first topic of the request.
- `log_reader.py` reads files of any size, a block at a time, into one raw table, `raw_log_requests`, and counts what is no request.
- Which row is which exchange is decided in SQL, when the capture was read: `query/resolve/log_*.sql`. The broker's clock is
  another one than the capture's, so its difference is estimated first (`log_clocks.sql`).
- Without a capture `log_exchanges.py` makes the raw rows that packets would give, with the bodies that
  `dissectors/kafka/logged` reads and the facts of `log_facts.py`; `text_bodies.py` makes JSON of the text of brokers before 2.8.
  Most lines never come here: `dissectors/kafka/logged/log_rows.py` writes their rows, a block at a time, and leaves the others.
"""
