"""kanalyze on Spark, under the name of the product: what `analyzer.spark` offers."""

from __future__ import annotations

from analyzer.spark import SparkError, Tables, add, get_session, tables, write

__all__ = ["SparkError", "Tables", "add", "get_session", "tables", "write"]
