"""Python operator classes that predate `CustomOp`, implemented by it."""

import itertools
import warnings

from mxcy.base import MXNetError
from mxcy.custom.described import PROPERTIES
from mxcy.symbol.custom import Custom

__all__ = ["NDArrayOp", "NumpyOp", "PythonOp"]

_numbers = itertools.count()


class PythonOp:
    """Base of `NumpyOp` and `NDArrayOp`; calling an object creates a symbol.

    Parameters
    ----------
    need_top_grad : bool
        Whether backward reads the gradients of the outputs, which losses do not.
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad
        kind = type(self).__name__
        warnings.warn(f"{kind}: PythonOp has been deprecated. Please use CustomOp", stacklevel=2)

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """Create a symbol of the operator.

        Parameters
        ----------
        *args : Symbol
            Input symbols.
        **kwargs
            Inputs by name, and the symbol's ``name``.

        Returns
        -------
        Symbol
            A symbol whose files can only be loaded while this object exists.
        """
        raise MXNetError("derive operators from NumpyOp or NDArrayOp, not from PythonOp")

    def forward(self, in_data, out_data):
        """Write the outputs; by default the first input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Write the gradients of the inputs; by default ones."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """Infer the shapes of inputs and outputs, by default those of the first input."""
        return in_shape, [in_shape[0]]

    def list_outputs(self):
        """List the names of the outputs."""
        return ["output"]

    def list_arguments(self):
        """List the names of the inputs."""
        return ["data"]

    def need_top_grad(self):
        """Return whether backward reads the gradients of the outputs."""
        return self.need_top_grad_

    def _symbol(self, runner, args, kwargs):
        """Create the symbol with a unique operator type."""
        name = f"_python_{next(_numbers)}_{type(self).__name__}"
        PROPERTIES[name] = lambda: _Property(self, runner)
        return Custom(*args, op_type=name, **kwargs)


class NumpyOp(PythonOp):
    """An operator whose methods receive NumPy arrays."""

    def get_symbol(self, *args, **kwargs):
        return self._symbol(_OnNumpy, args, kwargs)


class NDArrayOp(PythonOp):
    """An operator whose methods receive NDArrays."""

    def get_symbol(self, *args, **kwargs):
        return self._symbol(_OnArrays, args, kwargs)

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Declare the arrays backward reads, like `CustomOpProp.declare_backward_dependency`."""
        return [*(out_grad if self.need_top_grad() else ()), *in_data, *out_data]


class _Property:
    """Adapts an object of the old classes to `mxcy.operator.CustomOpProp`."""

    def __init__(self, operator, runner):
        self._operator, self._runner = operator, runner
        self.list_arguments, self.list_outputs = operator.list_arguments, operator.list_outputs
        self.infer_shape = operator.infer_shape

    def list_auxiliary_states(self):
        return []

    def infer_type(self, in_type):
        kind = in_type[0]
        return [kind] * len(in_type), [kind] * len(self.list_outputs())

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        declared = getattr(self._operator, "declare_backward_dependency", None)
        if declared is not None:
            return declared(out_grad, in_data, out_data)
        return [*(out_grad if self._operator.need_top_grad() else ()), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return self._runner(self._operator)


class _OnArrays:
    """Passes arrays on unchanged."""

    def __init__(self, operator):
        self._operator = operator

    def forward(self, is_train, req, in_data, out_data, aux):
        self._operator.forward(in_data=in_data, out_data=out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self._operator.backward(
            out_grad=out_grad, in_data=in_data, out_data=out_data, in_grad=in_grad
        )


class _OnNumpy(_OnArrays):
    """Passes NumPy arrays on, and copies back written ones."""

    def forward(self, is_train, req, in_data, out_data, aux):
        outs = _copied(out_data)
        self._operator.forward(in_data=_copied(in_data), out_data=outs)
        _returned(outs, out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        grads = _copied(in_grad)
        self._operator.backward(
            out_grad=_copied(out_grad),
            in_data=_copied(in_data),
            out_data=_copied(out_data),
            in_grad=grads,
        )
        _returned(grads, in_grad)


def _copied(arrays):
    return [None if array is None else array.asnumpy() for array in arrays]


def _returned(values, arrays):
    for value, array in zip(values, arrays, strict=True):
        array[:] = value
