-- severity: high
-- rank: 16
-- when: errors having bool_or(code = error('OFFSET_OUT_OF_RANGE'))
-- says: {who} fetched offsets of topic {topic}[ (it names {named} alone)] that {state}, {times|time|times}[ (offset {asked_offset})][, with the end at {end_offset}][; it continued at {reset_offset}][; {deleted_by} had its records deleted][ before {deleted_to}]
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
-- explains: failing(OFFSET_OUT_OF_RANGE), lag_growing, no_progress
-- costs: refused(OFFSET_OUT_OF_RANGE)
SELECT * FROM refused_offsets
