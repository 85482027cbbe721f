-- Events of groups but commits that went well: of these are most, and sums of them are in `all_group_requests`.
SELECT * FROM all_group_events WHERE event <> 'commit' OR error_code <> error('NONE')
