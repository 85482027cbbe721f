-- Which clients send batches again that were not refused? One row per client of at least 30 batches, of which 1 % and more were sent again:
-- `sent` in all, copies too, `resent` copies, `resent_share` (0 to 1). The most copies first.
SELECT cluster, who, sent, resent, resent_share, first_time_ns, last_time_ns
FROM batches_sent_again
ORDER BY resent DESC, who, first_time_ns
