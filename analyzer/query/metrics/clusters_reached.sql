-- Which addresses lead to another cluster or node than clients mean, and what became of these clients? One row per change:
-- `refusals` with REBOOTSTRAP_REQUIRED, clients that `went_on` (the `slowest_ns` of them), `lost` (who gave up), `asking` in vain,
-- requests that failed there with the first `error`. Null is none.
SELECT
    turned, meant, reached, broker, connection, refused_clients, refusals, moved_clients, went_on, slowest_ns, lost, asking,
    failures, error, first_time_ns, last_time_ns
FROM clusters_mixed_up
ORDER BY weight DESC, turned, first_time_ns
