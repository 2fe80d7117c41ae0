"""mxcy: MXNet's Python interface on today's Python and NumPy 2."""

from importlib import import_module

from mxcy._base.launching import is_launcher as _is_launcher
from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute

if not _is_launcher():  # it needs none of these, and starts in a fraction of their time
    from mxcy import autograd, env, ndarray, random, storage, util
    from mxcy import ndarray as nd
    from mxcy import random as rnd
    from mxcy._library import forks  # noqa: F401  registers fork handlers
    from mxcy._semantics import switches as _switches
    from mxcy.attribute import AttrScope
    from mxcy.base import MXNetError
    from mxcy.context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
    from mxcy.context import Context as Device
    from mxcy.context import current_context as current_device
    from mxcy.libinfo import __version__
    from mxcy.ndarray.classes import offer_numpy as _offer_numpy
    from mxcy.util import (
        is_np_array,
        is_np_default_dtype,
        is_np_shape,
        np_array,
        np_default_dtype,
        np_shape,
        set_np_shape,
        use_np,
        use_np_array,
        use_np_default_dtype,
        use_np_shape,
    )

__all__ = [
    "AttrScope",
    "Context",
    "Device",
    "MXNetError",
    "__version__",
    "autograd",
    "cpu",
    "cpu_pinned",
    "current_context",
    "current_device",
    "gpu",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "nd",
    "ndarray",
    "np_array",
    "np_default_dtype",
    "np_shape",
    "num_gpus",
    "random",
    "rnd",
    "set_np_shape",
    "storage",
    "use_np",
    "use_np_array",
    "use_np_default_dtype",
    "use_np_shape",
    "util",
]

#: name -> module that is imported when the name is first accessed
_LATER = {
    "_api_internal": "mxcy._api_internal",
    "_ffi": "mxcy._ffi",
    "amp": "mxcy.amp",
    "attribute": "mxcy.attribute",
    "container": "mxcy.container",
    "contrib": "mxcy.contrib",
    "cuda": "mxcy.cuda",
    "device": "mxcy.device",
    "dlpack": "mxcy.dlpack",
    "engine": "mxcy.engine",
    "error": "mxcy.error",
    "executor": "mxcy.executor",
    "executor_manager": "mxcy.executor_manager",
    "callback": "mxcy.callback",
    "gluon": "mxcy.gluon",
    "image": "mxcy.image",
    "img": "mxcy.image",
    "init": "mxcy.initializer",
    "initializer": "mxcy.initializer",
    "interop": "mxcy.interop",
    "io": "mxcy.io",
    "kv": "mxcy.kvstore",
    "kvstore": "mxcy.kvstore",
    "kvstore_server": "mxcy.kvstore.kvstore_server",
    "library": "mxcy.library",
    "log": "mxcy.log",
    "lr_scheduler": "mxcy.lr_scheduler",
    "metric": "mxcy.metric",
    "misc": "mxcy.misc",
    "mod": "mxcy.module",
    "model": "mxcy.model",
    "module": "mxcy.module",
    "mon": "mxcy.monitor",
    "monitor": "mxcy.monitor",
    "name": "mxcy.name",
    "np": "mxcy.numpy",
    "npx": "mxcy.numpy_extension",
    "numpy": "mxcy.numpy",
    "numpy_extension": "mxcy.numpy_extension",
    "onnx": "mxcy.onnx",
    "operator": "mxcy.operator",
    "opt": "mxcy.optimizer",
    "optimizer": "mxcy.optimizer",
    "profiler": "mxcy.profiler",
    "recordio": "mxcy.recordio",
    "registry": "mxcy.registry",
    "rnn": "mxcy.rnn",
    "resource": "mxcy.resource",
    "rtc": "mxcy.rtc",
    "runtime": "mxcy.runtime",
    "sym": "mxcy.symbol",
    "symbol": "mxcy.symbol",
    "test_utils": "mxcy.test_utils",
    "th": "mxcy.torch",
    "torch": "mxcy.torch",
    "visualization": "mxcy.visualization",
    "viz": "mxcy.visualization",
}


def __getattr__(name):
    if name not in _LATER:
        raise no_attribute(__name__, name)
    module = import_module(_LATER[name])
    globals()[name] = module
    return module


__dir__ = listing(__name__, _LATER)


if not _is_launcher():
    _offer_numpy(lambda: import_module("mxcy.numpy").ndarray)
    _switches.start()
    if env.get("MXNET_PROFILER_AUTOSTART"):
        import_module("mxcy.profiler.autostart")
    if env.is_set("DMLC_ROLE") or env.is_set("MXCY_RANK_PID"):
        import_module("mxcy.dist.start").begin()
    if env.raw("DMLC_ROLE") == "server":
        import_module("mxcy.kvstore.kvstore_server").serve()
