"""A capture read in parts: plan, tasks, what leaves them and how it is joined; knows no SQL and no Spark."""
