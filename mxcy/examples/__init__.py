"""Programs to run and to read: ``python -m mxcy.examples.<name>``."""
