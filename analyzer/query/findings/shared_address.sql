-- severity: medium
-- rank: 6
-- when: brokers having count(*) > count(DISTINCT concat(cluster, ' ', host, ' ', CAST(port AS STRING))) AND (SELECT count(*) FROM failed_exchanges) >= 3
-- says: {brokers} brokers of a cluster are advertised at one address, {address}: {refused|request|requests} reached another one than meant[, all of {who}]
-- do: Give each broker an address of its own (advertised.listeners: another name or port for each), which leads to that broker alone. A load balancer in front of all of them can serve as bootstrap.servers, and for nothing else.
-- look: kanalyze connections
-- explains: leader_loop*, metadata_storm*, failing*(NOT_LEADER_OR_FOLLOWER|NOT_COORDINATOR|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH|REPLICA_NOT_AVAILABLE), missing_topic*, resent_batches*, repetition*
-- costs: refused(NOT_LEADER_OR_FOLLOWER|NOT_COORDINATOR|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH|REPLICA_NOT_AVAILABLE)
SELECT * FROM shared_addresses
