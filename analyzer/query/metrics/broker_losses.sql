-- Which brokers became unavailable? One row per broker and time: `attempts` of `clients` addresses failed after its
-- last reply, or `never` succeeded, or the `ended` connections to others ended; `back` says what came of it,
-- `refused_writes` were refused meanwhile. The worst first.
SELECT * FROM lost_brokers ORDER BY weight DESC, first_time_ns
