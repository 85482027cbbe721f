"""Captures to a dataset on this machine: chooses how to read them, writes the SQL over raw tables; knows no screen.

- A report of a large capture runs every rule and shows what that of a small one shows; it reads only what these need:
  no columns marked `seldom`, and entries of a few APIs alone (`Options.entries_of`). A question that reads one of these
  columns all the same raises an error.
- Some fifty rules and sections read exchanges, so that report computes them once, as a table (`all_exchanges`; `_held` in
  `analyzer/run/raw_views.py`). Each column of this table costs some 5 ns and 8 bytes a row. So it leaves out columns
  that no rule or section reads (`UNREAD`), and those of a broker's log that nobody gave. It is that table itself that
  questions name: a view over it with the columns that it lacks was planned 130 times a report, a third of its SQL. In such a
  report columns of texts that repeat are of an ENUM type (`analyzer/run/repeated_texts.py`): a question reads and
  writes texts, the engine compares numbers: SQL takes a fifth less time, the whole report a quarter less memory.
  Columns that are joined must be of one type: name a new text column of a raw table there if another table has the
  same texts. CASE with a literal gives plain texts again. Where the rows of a large capture are written as Parquet
  (exports, days that are added, runs) these types are there too (`Options.numbered`, `raw_views.numbered`): the
  engine writes a number as it is, where it hashes a text (10 ns a value for 50), and the files hold texts all the
  same. (Topics of runs, and of all days but the first, stay texts there: others tell their names.) Where the table is
  not made, `exchanges` is a view. Write no IN list of five or more words in that view: the engine makes a join of it,
  and then every question computes all columns below.
- What is held must fit: beyond 100,000 connections what has a row for each, and beyond half of the memory for
  questions what has one for each exchange, is held in a file (`in_file` in `analyzer/run/raw_views.py`), in the
  engine's own format: it gives pages back without writing them, and a question reads its columns alone.
- No query is planned for a final table without rows: `MADE_OF` in `analyzer/run/raw_views.py` says from which raw
  table its rows come. In most captures three to eight final tables are empty.
"""
