-- Which brokers are there, and which one was the controller, when? One row per cluster and node that a reply named;
-- `controller` is null when no reply told; times are those of the first and last reply that named the node, ns.
SELECT cluster, broker_id, host, port, rack, controller, first_time_ns, last_time_ns
FROM brokers
ORDER BY cluster, broker_id, host, port
