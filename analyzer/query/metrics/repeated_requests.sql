-- Who sends the same request again and again? One row per client and API, the worst first: see the finding `repetition`.
SELECT * FROM repeated_requests ORDER BY weight DESC, first_time_ns, 1, 2, 3
