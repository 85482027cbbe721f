-- `exchanges_with_status` of a run that saw both sides of all connections: a question for some statuses skips the rows of others.
SELECT * FROM exchanges_with_ways
