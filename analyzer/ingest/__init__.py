"""Segment rows to raw tables: the stages wired together, facts from bodies, Parquet; knows neither SQL nor who asks."""
