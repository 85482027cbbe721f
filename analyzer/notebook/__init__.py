"""What the Python API takes and returns: arguments, frames, findings, texts."""
