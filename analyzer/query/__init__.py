"""Raw tables to answers: final tables, metrics, findings, exports; knows neither captures nor screens.

- Planning is what a small report costs. A view is planned when it is created and anew for each question, so what is
  small is computed once, a view that only views or questions of ours read is never created: its SQL is part of theirs
  (`catalog.py`), and joins that a run does not need are left out (`no_exchange_problems.sql`). Group the right side
  of a LEFT JOIN by its key: the engine then leaves the join out for questions that read none of its columns, if it is
  the only such join, no window function is beside it, and the key is a column and no expression (measured;
  `batches.sql`, `exchanges.sql`). Where a question joins two tables more it stays: group first, as
  `resent_batches.sql` does.
- What could not be read is decided in one place, `query/readability.py`, for each question (`ASKS`: does it need
  replies, bodies?) from one row, `metrics/readability.sql`; `report/readability_words.py` has the words.
  `cli/common.opened` says it before a verb answers, so a verb must name what it asks. A verb whose question nothing
  answers prints no "nothing found". Bodies that were captured and not read (`metrics/unread_bodies.sql`: newer than
  the schemas, or not as their version says) are told by API, version and side; what they could hold is null where
  none was found: errors and throttling (`unread_replies`), members, transactions
  (`views/materialized/unread_clients.sql`).
- Rates are over captured time, `time_range.captured_ns`: the union of the files' times, where a gap of up to a second
  or a tenth of the next file is one of files written by turns (`query/table_views.py`).
- A report uses two threads for its questions. A view is computed by the thread that needs it first, after all views
  that it reads (`catalog.py`); so no view may read itself.
- An export is a directory for each table (`export_tables.py`). DuckDB writes the files, no row passes through Python.
  Of a large capture a file is a slice of time, the same slices for all tables with a moment; the manifest names
  files, rows and moments. Its condition is about one column, and raw row groups know their first and last time: else
  each slice would read all rows.
- A dataset that grows (`export --add`; docs/datasets.md is its format): `run/additions.py` reads what is new by
  tasks, behind what `distributed/open_connections.py` kept of open connections: their fragments, and the raw rows of
  their spans, which are to the next run one more task that is read already. So their rows are those of one run, from
  the first packet on; until a connection is over they are in `-open` files, which the newest run's replace.
  `query/growing.py` holds the manifest, the one moment at which files begin to count: `query/partitions.py` wrote
  them by day, of a day with many rows several, to where no glob looks. `query/hours.py` writes the sums of a run's
  day beside; keys beyond the most frequent are one there. When a capture comes late or has changed, the runs behind
  it are taken back and their captures read again. Many small files become one (`query/compaction.py`). Executors of
  Spark may do all but the commit (`spark/adding.py`): each run writes files of its own, so a day has as many as tasks.
- A question for a time (`--from`, `--to`) reads of exchanges, entries, errors and batches the files whose moments, in
  the manifest, are of that time (views `near_NAME`); what rules ask beyond it (`all_NAME`) is read whole, and only
  when something asks.
- SQL that a user writes (`query/documented.py`) runs in a database of its own, which has views of the final tables
  and nothing else. Before it runs the engine is closed off (`engine_settings.py`): it opens the files of the tables
  alone, for the rest of the dataset's life. These views have more columns than the tables (TIMESTAMPs, names that
  need no quotes): `sql_columns` of `base/tables.py`. No SQL of ours reads them. `report/duckdb_file.py` writes the
  same columns as generated ones.
"""
