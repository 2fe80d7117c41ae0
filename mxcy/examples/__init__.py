"""Example programs: ``python -m mxcy.examples.<name>``."""
