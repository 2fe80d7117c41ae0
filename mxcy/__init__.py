"""mxcy: MXNet's Python interface on today's Python and NumPy 2."""

__version__ = "0.1.0"
