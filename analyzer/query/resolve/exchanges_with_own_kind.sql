-- `exchanges_with_kind` of a run that read no entries: nothing is known of fetch sessions.
SELECT *, own_kind AS kind FROM exchanges_with_packets
