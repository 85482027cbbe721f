-- Names of clients that ask brokers of several clusters, be it one process or several. Never filtered.
SELECT who(t) AS who
FROM all_totals AS t JOIN clustered_connections AS c ON c.connection = t.connection
GROUP BY who(t)
HAVING min(c.cluster) < max(c.cluster)
