"""Captures watched while they grow.

Three processes and one flow:

- the *reader* (`reader_process`) follows the feeds of `analyzer.inputs.live` with one pipeline that never ends. When it is asked it
  *cuts*: the raw tables so far are completed as a *window*, a folder of its own, and the next window begins. What has not ended,
  connections that are open and requests that wait, is in no raw table. So a copy of the process (a fork) ends as a report would
  end, and writes these rows beside: the *live rows*. The reader itself goes on.
- the *analysis* (`windows`, `answers`) opens the last windows and the live rows as a Dataset, as any report does, and asks the
  same metrics and findings. No metric and no rule has a second form here.
- whoever shows it: the screen, JSON lines, Prometheus text, and the recorder, which acts when a finding becomes true.

Memory and disk are flat, because windows leave: those older than the time that is looked at, or too many rows. What leaves is first
added to the *totals*: counts, bytes, errors, throttle times and log buckets of latency, which merge by sums (`totals`); and what
the rows of open connections and names will need goes into the *carried rows* (`carried`): of each open connection the first and
last messages that tell who and what it is, with the facts read from them. A window's rows are in exactly one place, so that totals
and windows together are the whole run: the final report is made from both.

- One pipeline reads for days. Asked for a *cut* it completes its raw tables as a window, and a fork of the process
  ends what is open (connections, requests that wait) as the end of a capture would: no stage knows of it, and the
  reader goes on. The fork needs a process without threads at work: the writer's ends with each window.
- Windows of the last `--window` and the fork's rows are a Dataset like any other. Windows that leave are added to
  totals, by views and metrics whose rows can be added (`latency_counts`), and what later rows need of them is carried
  on: per open connection the first and last exchange of each API with its facts, the newest state of each partition
  fetched, and what a request told whose exchange has not ended. `tests/system/watch` compares the sums with a report
  over the whole.
- The recorder (`ring.py`, `recorder.py`): bytes of whole records go to files of their own as they are read; when
  findings of a severity touch in time (`incident_times.py`) links hold these files, and a process of its own makes
  extract and report of them.
- When many rows come in little time (`MOST_EXCHANGES`), questions read a shorter window; totals stay complete.
"""
