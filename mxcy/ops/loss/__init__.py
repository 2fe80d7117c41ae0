"""Loss operators and outputs with built-in losses."""
