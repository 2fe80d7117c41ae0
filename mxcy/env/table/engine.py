"""Engine."""

from mxcy.env.kinds import one_of
from mxcy.env.variable import Variable

_ENGINES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")

ROWS = (
    Variable("MXNET_ENGINE_TYPE", one_of(*_ENGINES, *(name + "Async" for name in _ENGINES)),
             "ThreadedEnginePerDevice", "I", "mxcy.env.table.engine",
             "How operators are scheduled. For now all types mean NaiveEngine: each operator runs "
             "in its caller."),
)  # fmt: skip
