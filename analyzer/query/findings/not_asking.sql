-- severity: info
-- rank: 9
-- when: fetch_sums having bool_or(of_consumer AND last_time_ns <= (SELECT max(last_time_ns) FROM time_range) - impact('stuck_ns')) OR (SELECT max(end_ns - begin_ns) FROM fetch_pauses) >= impact('stuck_ns')
-- lasts: s(10)
-- says: {who} (group {group_id}) {asked}[ {topic}-{partition}] for {idle_ns}[, the longest of {pauses|such pause|such pauses}][, up to the end of the capture, while {records|record was|records were} written there][, and then got {given_bytes} at once]; its heartbeats {going}[; its last Fetch there was refused: {refusal}]
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
SELECT * FROM unasked_records
