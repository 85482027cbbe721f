-- Parts of whose exchanges the times are asked for: those of connections that were captured several times, and those of legs that
-- a proxy may stand between.
SELECT part FROM view_members
UNION
SELECT part FROM forward_pairs
UNION
SELECT from_part FROM forward_pairs
