"""Object storage (s3, gs, abfss) through pyarrow.fs: addresses, clients, objects and their bytes; knows nothing of captures."""
