-- severity: info
-- rank: 17
-- when: group_news having bool_or(assigned_partitions = 0)
-- lasts: s(10)
-- says: {spare} of {members|member|members} of group {group_id} has no partition and gets no records: {who}[; the others share {shared|partition|partitions}][; {holder} is to give partitions up, and has not for {held_ns}]
-- do: {advice}
-- look: kanalyze groups --group {group_id}
SELECT * FROM spare_members
