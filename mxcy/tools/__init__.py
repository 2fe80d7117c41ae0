"""Programs of ``python -m``: `launch` starts jobs of several processes, `im2rec` makes records."""
