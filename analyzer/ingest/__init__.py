"""Segment rows to raw tables: the stages wired together; knows neither SQL nor who asks."""
