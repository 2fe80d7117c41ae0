"""Worker processes."""

from mxcy.env.variable import Variable

ROWS: tuple[Variable, ...] = ()
