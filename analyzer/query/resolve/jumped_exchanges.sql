-- Exchanges that began before a jump of the capture's clock and ended behind it, so that none of their durations is known. Across files
-- the times tell: what was there before a jump ahead and had not ended behind it.
SELECT DISTINCT x.exchange
FROM raw_exchanges AS x
JOIN raw_jumps AS j ON j.before_ns < j.after_ns
    AND x.request_time_ns <= j.before_ns
    AND coalesce(x.response_end_ns, x.response_time_ns, x.request_end_ns) >= j.after_ns
UNION
SELECT x.exchange
FROM raw_exchanges AS x
JOIN raw_splits AS asked ON asked.split = x.request_split
JOIN raw_splits AS told ON told.split = x.response_split
JOIN raw_jumps AS j ON j.file = asked.file AND j.file = told.file
WHERE x.request_number + asked.packets_before < j.until AND x.response_number + told.packets_before >= j.packet
