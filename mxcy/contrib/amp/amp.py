"""The functions of `mxcy.amp`, with MXNet 1.x's lists."""

from mxcy._base import older_paths
from mxcy._base.dtypes import bfloat16
from mxcy._base.listing import listing
from mxcy.contrib.amp import lists

#: imported on first access, because `mxcy.amp` needs Gluon
_FUNCTIONS = (
    "convert_bucketing_module",
    "convert_hybrid_block",
    "convert_model",
    "convert_symbol",
    "init",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "scale_loss",
    "unscale",
)

__all__ = ["bfloat16", "lists", *_FUNCTIONS]

__getattr__ = older_paths.offer(__name__, "mxcy.amp.amp")
__dir__ = listing(__name__, _FUNCTIONS)
