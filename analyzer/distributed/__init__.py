"""A capture read in parts: plan, tasks, what leaves them and how it is joined; knows no Spark and no questions."""
