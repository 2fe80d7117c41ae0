"""`mx.nd`: the classic array interface."""

from mxcy import _front, streams
from mxcy.context import as_context
from mxcy.ndarray.ndarray import NDArray, array
from mxcy.ndarray.utils import load, load_frombuffer, save
from mxcy.ndarray import register
from mxcy import ops
from mxcy.ops import infer, prepare, record, reference


def _context_of(attrs):
    text = getattr(attrs, "ctx", "")
    return as_context(text or None)

def _fallback(operation, lhs, rhs):
    raise TypeError(type(rhs))

_front.plug(prepare.prepare, infer.Spec, reference.run, streams.address_for, _context_of, _fallback)


from mxcy.ndarray import random


def __getattr__(name):
    return register.lookup(__name__, name)
