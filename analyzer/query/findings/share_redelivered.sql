-- severity: medium
-- rank: 18
-- when: group_news having max(delivery_count) >= 4
-- says: share group {group_id} is given the same records[ of {topic}] again and again, up to {most} times
-- do: Records that a member does not acknowledge in time (group.share.record.lock.duration.ms, 30 s), or releases, are given again; from group.share.delivery.count.limit (5) deliveries on they are given to nobody. Take fewer records at a time (share.acquire.mode=record_limit, max.poll.records) or process them faster, raise the time, and let code reject what it cannot process.
-- look: kanalyze groups --group {group_id}
-- explains: failing(INVALID_RECORD_STATE)
SELECT * FROM records_given_again
