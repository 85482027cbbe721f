"""A capture read in parts: plan, tasks, fragments and how they are stitched; knows no Spark and no metrics."""
