"""`mx.nd`: the classic array interface."""

from mxcy import _front
from mxcy.context import current_context, Context
from mxcy.ndarray.ndarray import NDArray, array
from mxcy.ndarray import register
from mxcy import ops
from mxcy.ops import infer, prepare, record, reference


def _context_of(attrs):
    text = getattr(attrs, "ctx", "")
    return Context(text) if text else current_context()

def _fallback(operation, lhs, rhs):
    raise TypeError(type(rhs))

_front.plug(prepare.prepare, infer.Spec, reference.run, None, _context_of, _fallback)


def __getattr__(name):
    return register.lookup(__name__, name)
