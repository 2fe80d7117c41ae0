"""`mx.nd`: the classic array interface.

Operators are functions of this module and its namespaces, as assigned by `mxcy.ops.core.homes`.
They are created at first access.
"""

from importlib import import_module

from mxcy import env, storage
from mxcy._base import older_paths
from mxcy._base.errors import MXNetError
from mxcy._devices import streams, virtual
from mxcy._library import front, tracebacks
from mxcy._library.services import Services
from mxcy.context import Context, as_context, check_usable
from mxcy.gpu import copies as device_copies
from mxcy.gpu import devices
from mxcy.gpu import library as device_library
from mxcy.gpu import reference as device_reference
from mxcy.ndarray import (  # noqa: F401
    _internal,
    contrib,
    image,
    linalg,
    mixed_precision,
    namespaces,
    op,
    random,
    sparse,
)
from mxcy.ndarray._exchange import sharing  # noqa: F401
from mxcy.ndarray._exchange.dlpack import from_dlpack, to_dlpack_for_read, to_dlpack_for_write  # noqa: F401
from mxcy.ndarray._functions.creation import *  # noqa: F403
from mxcy.ndarray._functions.custom import Custom  # noqa: F401
from mxcy.ndarray._functions.functions import *  # noqa: F403
from mxcy.ndarray._indexing.index_rules import *  # noqa: F403
from mxcy.ndarray.arithmetic import *  # noqa: F403
from mxcy.ndarray.arithmetic import unusual_operands
from mxcy.ndarray.ndarray import (  # noqa: F401
    _DTYPE_MX_TO_NP,
    _DTYPE_NP_TO_MX,
    _GRAD_REQ_MAP,
    NDArray,
    _new_empty_handle,
    get_dtype_name,
)
from mxcy.ndarray.sparse import dispatch
from mxcy.ndarray.utils import load, load_frombuffer, save  # noqa: F401
from mxcy.ops.core import homes, infer, operators, prepare, record, reference, stypes


def _context_of(attrs):
    """The context of an operator without inputs."""
    ctx = as_context(getattr(attrs, "ctx", "") or None)
    check_usable(ctx)
    return ctx


def _prepare(operator, attrs, ins, library, force=None):
    """Prepare a call; None if it computes a sparse result from dense arrays.

    ``force=''`` prepares it as a dense call anyway.
    """
    if operator.stypes and force is None and stypes.makes_sparse(operator, attrs, ins):
        return None
    if force is None:
        try:
            return prepare.prepare_eager(operator, attrs, ins, library)
        except MXNetError as error:
            tracebacks.shorten(error)
            raise
    return prepare.prepare(operator, attrs, ins, library, force or None)


_has_cuda = devices.offer()
front.start(
    Services(
        prepare=_prepare,
        spec=infer.Spec,
        prepare_on_device=device_library.prepare,
        run_reference=device_reference.run if _has_cuda else reference.run,
        store_result=device_reference.store if _has_cuda else reference.store,
        run_sparse=dispatch.run,
        mixed_inputs=mixed_precision.inputs_of,
        streams_of=streams.streams_of,
        context_of=_context_of,
        pool_of=storage.pool_of,
        shared_array=sharing.shared_array,
        array_class=NDArray,
        default_context=storage.USUAL,
        contexts=Context._default_ctx,
        serves_devices=_has_cuda or virtual.offer(),
        device_memory=_has_cuda,
        upload=device_copies.upload,
        download=device_copies.download,
        operators=[tuple(map(record.find, row)) for row in operators.TABLE],
        unusual_operands=unusual_operands,
        most_signatures=env.get("MXCY_CACHED_CALLS"),
    )
)

_operator, __dir__ = namespaces.offer(__name__, homes.MAIN)


_above = older_paths.offer(__name__, "mxcy._execute.cached_op", ("CachedOp",))


#: name -> module that is imported at the first access
_LATER = {"np": "mxcy.ndarray.numpy", "npx": "mxcy.ndarray.numpy_extension"}


def __getattr__(name):
    if name in _LATER:
        return import_module(_LATER[name])
    return _above(name) if name == "CachedOp" else _operator(name)
