-- Which producers were fenced? One row per transactional id or client, and error: `times`; `taken_by` and `unsure` say
-- why, or the transaction was open for `open_ns`, longer than `timeout_ms`. The worst first.
SELECT * FROM fenced_producers ORDER BY weight DESC, first_time_ns
