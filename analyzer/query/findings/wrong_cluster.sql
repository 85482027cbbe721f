-- severity: medium
-- rank: 5
-- when: all_connections having count(DISTINCT cluster) FILTER (WHERE cluster NOT LIKE '%:%') > 1 OR (SELECT count(*) FROM errors WHERE code = error('REBOOTSTRAP_REQUIRED')) > 0
-- says: {turned}[; {refused_clients} refused with REBOOTSTRAP_REQUIRED, {refusals|time|times}][; {moved_clients} led there without a refusal][; {went_on|client|clients} went on, after {slowest_ns} at most][; {lost} gave up][; {asking|client|clients} went on asking in vain][; {failures|request|requests} failed there, the first with {error}]
-- do: Find out who changed where this address leads: DNS, a load balancer, a proxy, a new installation. If it was meant, restart clients that gave up, and look where groups begin to read: members, committed offsets and transactions stayed behind on the other cluster.
-- look: kanalyze connections
-- explains: failing*(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|GROUP_ID_NOT_FOUND|UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC_ID|INCONSISTENT_TOPIC_ID|UNKNOWN_PRODUCER_ID|INVALID_PRODUCER_ID_MAPPING|INVALID_TXN_STATE|TRANSACTIONAL_ID_NOT_FOUND), commit_failures*, offset_out_of_range*, out_of_order*, fenced_producer*, missing_topic*
-- costs: refused, connections
SELECT * FROM clusters_mixed_up
