"""Segment rows to raw tables: the stages wired together, facts from bodies, Parquet; knows neither SQL nor who asks.

- Exchanges without an answer, with an error code or with a throttle time have Parquet row groups of their own: a
  question with the condition `error_code <> 0` skips all others by their statistics. Write the condition even where a
  join implies it.
- Every limit is an option, and a limit that was met is said by the run, with the option's name, and is a row in
  `problems`.
- Too many connections: see `dissectors/parking` and `dissectors/tcp`. Too many bytes out of order: the connections
  idle for longest give up their holes until an eighth is free. Each worker has its share of each limit, and of
  connections a quarter more, so that no worker is full before the whole run would be.
"""
