-- Parts that lasted while the capture's clock jumped: their packets' own timestamps and it have parted, so no lag tells of a queue.
SELECT DISTINCT p.part
FROM raw_parts AS p
JOIN raw_jumps AS j
    ON p.first_time_ns <= greatest(j.before_ns, j.after_ns) AND p.last_time_ns >= least(j.before_ns, j.after_ns)
