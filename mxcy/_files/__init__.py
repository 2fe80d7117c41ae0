"""File formats: record files and checkpoints; downloads."""
