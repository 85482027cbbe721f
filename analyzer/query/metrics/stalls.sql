-- Which brokers answered nothing for a while? One row per broker: it answered only what `answered` says, `times`
-- times, for `still_ns` at most, while `requests` of `clients` waited; `or_follower` names what else it may have been,
-- `until` says that it did not end. The worst first.
SELECT * FROM stalled_brokers ORDER BY weight DESC, first_time_ns
