-- Which replies do clients give up on, in the middle? One row per client, API and partition: `times` at most
-- `taken_bytes` of `reply_bytes` were taken. The worst first.
SELECT * FROM given_up_replies ORDER BY weight DESC, first_time_ns
