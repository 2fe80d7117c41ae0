"""`mx.nd`: the classic array interface.

Operators are functions of this module and of its namespaces, by the rule of `mxcy.ops.homes`; they
are made when first asked for.
"""

from mxcy import _front, streams, virtual
from mxcy.context import as_context, check_usable
from mxcy.ndarray import (  # noqa: F401
    _internal,
    contrib,
    image,
    linalg,
    namespaces,
    op,
    random,
    sharing,
)
from mxcy.ndarray.arithmetic import *  # noqa: F403
from mxcy.ndarray.arithmetic import plug
from mxcy.ndarray.creation import *  # noqa: F403
from mxcy.ndarray.custom import Custom  # noqa: F401
from mxcy.ndarray.dlpack import from_dlpack, to_dlpack_for_read, to_dlpack_for_write  # noqa: F401
from mxcy.ndarray.functions import *  # noqa: F403
from mxcy.ndarray.index_rules import *  # noqa: F403
from mxcy.ndarray.ndarray import (  # noqa: F401
    _DTYPE_MX_TO_NP,
    _DTYPE_NP_TO_MX,
    _GRAD_REQ_MAP,
    NDArray,
    _new_empty_handle,
)
from mxcy.ndarray.utils import load, load_frombuffer, save  # noqa: F401
from mxcy.ops import homes, infer, prepare, reference


def _context_of(attrs):
    """The context of an operator without inputs."""
    ctx = as_context(getattr(attrs, "ctx", "") or None)
    check_usable(ctx)
    return ctx


_front.plug(prepare.prepare, infer.Spec, reference.run, streams.streams_of, _context_of)
plug()
virtual.offer()

_operator, __dir__ = namespaces.offer(__name__, homes.MAIN)


def __getattr__(name):
    if name == "CachedOp":  # which needs this package
        from mxcy.cached_op import CachedOp

        globals()[name] = CachedOp
        return CachedOp
    return _operator(name)
