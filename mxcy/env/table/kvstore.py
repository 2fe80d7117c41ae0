"""Training on several devices."""

from mxcy.env.kinds import flag
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_UPDATE_ON_KVSTORE", flag, True, "C", "mxcy.module.updates",
             "Let the key-value store of a module run its optimizer where it can."),
)  # fmt: skip
