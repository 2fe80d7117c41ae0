"""`mx.model`: checkpoints, the argument of callbacks, and the legacy training interface."""

from importlib.util import find_spec

from mxcy._base.listing import listing
from mxcy._files.checkpoint import load_checkpoint, load_params, save_checkpoint
from mxcy.callback import BatchEndParam
from mxcy.module.feed_forward import FeedForward
from mxcy.module.updates import choose_store as _create_kvstore  # noqa: F401  loops of users' own
from mxcy.module.updates import start_store as _initialize_kvstore  # noqa: F401
from mxcy.module.updates import update_on_store as _update_params_on_kvstore  # noqa: F401
from mxcy.module.updates import update_with as _update_params  # noqa: F401

#: whether scikit-learn is installed, as in MXNet
SKLEARN_INSTALLED = find_spec("sklearn") is not None

__all__ = [
    "SKLEARN_INSTALLED",
    "BatchEndParam",
    "FeedForward",
    "load_checkpoint",
    "load_params",
    "save_checkpoint",
]

__dir__ = listing(__name__)
