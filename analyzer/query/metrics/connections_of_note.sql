-- Which connections stand out? Never answered, requests left without an answer, bytes lost, more than 1 % of the packets
-- sent again (of at least 100), reset. `retransmitted_share` is 0 to 1. At most 1,000 rows of `total_rows`.
SELECT *, count(*) OVER () AS total_rows
FROM noted_connections
ORDER BY never_answered DESC, unanswered DESC, gap_bytes DESC, retransmitted DESC, first_time_ns, connection
LIMIT 1000
