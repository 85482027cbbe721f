"""A capture read in parts: plan, tasks, fragments and how they are stitched; knows no Spark and no metrics.

- *Workers that share connections* (`analyzer/run`, `base/workers.py`): for a local capture beyond 64 MB, each worker
  (one per core, at most 4) reads all of it and takes the segments of its own shard of connections. Reading and
  headers are a sixth of a run; no boundary has to be proved, and only the summary goes from one process to another.
  Workers are forks, beside threads (another dataset is open) new interpreters. With one input a new connection goes
  to the shard that has had the fewest segments; with merged inputs its hash decides.
- *Tasks* (`analyzer/distributed`): `plan` cuts captures into splits and packs them into tasks. Cuts are guesses that
  are proved afterwards: each piece tells where its first record began and where the first one behind it begins, and a
  cut is proved when the end of piece k equals the beginning of piece k+1, and so on from the head of the file. What
  is refuted is read again from the proved place.
- A task resolves what lies between two *checkpoints* of a connection: places where nothing is pending in any stage.
  Each stage gives its checkpoint as a row of numbers, says whether another run's checkpoint matches its own state,
  and can resume behind it (`ResumableStage` in `ingest/checkpoints.py`). What lies outside leaves as fragments.
  `stitch` runs the same stages over the fragments of all tasks; at the marker of a resolved span it looks whether the
  connection is where the task thought it was, and resumes behind the span. If not, the span is refuted, and its task
  is read again and leaves this connection to `stitch`.
- Where checkpoints are rare, looking for them costs more than the fragments that they save. So a task looks every
  8,192 segments (a small one every 1,024: with one look there is no span), and at a connection again after 32 KiB of
  it (`resolver.py`). Of chatty 1.7 % travels as fragments, packed, in tasks of 187 MB. A task costs 1.6 to 1.7 times
  a plain pass over its bytes: it looks, and keeps all segments (`pending_rows.py`) until it is known whether they
  travel. Its raw rows are drafts, batches as they lie in memory, until it is known which of them are kept; these
  become Parquet, in row groups as large as the engine reads them. Drafts take twice the bytes of the packets on
  the executor's disk for as long as the task runs; packed, beyond 256 MB, 0.4 times.
- A complete connection (from a bare SYN to the end of both sides, not near the edges of the task, seen at one capture
  point, in clear, without a limit) leaves nothing but its SYN and where it ended.
- *Runs resolve their own rows* (`analyzer/run/resolved_runs.py`), with the SQL of `query/resolve`. First each run,
  task or partition of the stitch, hands on its small raw tables and views over its own rows (`resolve.OF_RUNS`). One
  process makes facts of them (`facts_of_runs.py`): who is Kafka, clusters, roles, groups, names of topics. Each run
  is given those about its own connections. Three kinds of rows must meet rows of other runs and move
  (`moved_rows.py`): fetches of a session, requests on connections that were throttled, errors. An exchange that is in
  flight at a checkpoint has rows in two runs: these few are a run of their own, the strays, which tasks for executors
  write apart. `tests/system/distributed` compares all of it with one run, without Spark.
- An object in storage is checked after each range beyond the first and at its end: pyarrow pads one that became
  shorter.
"""
