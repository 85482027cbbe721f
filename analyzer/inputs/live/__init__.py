"""Captures that grow while they are read: pipes, files, rings of files, several at once.

- A `LiveSource` never waits: where there is nothing now its `fill` says so, and after 0.3 s of silence packets no
  longer wait for earlier ones. Pipes are emptied to disk by a thread (`spool.py`), so that falling behind loses
  nothing; a ring's files that wait are held open, and what is written over unread is counted.
"""
