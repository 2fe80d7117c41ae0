"""`mx.np.ndarray`: the array class with NumPy semantics, over the same memory as `mx.nd`."""

import functools
import sys

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import integer_types
from mxcy.context import as_context
from mxcy.ndarray.fluent import is_method
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.tape import as_class
from mxcy.numpy._arrays import indexing, operators, protocols
from mxcy.numpy._arrays.elements import Elements
from mxcy.numpy._arrays.methods import FunctionMethod, Hidden
from mxcy.numpy._calls import operands
from mxcy.numpy._calls.direct import direct
from mxcy.ops.core.record import REGISTRY, find

__all__ = ["METHODS", "ndarray"]


def _binary(name):
    """Return an operator's special methods: left operand, right operand, in place."""
    if name in operators.NAMES:
        number = operators.NAMES.index(name)
        both = front.numpy_operator(number), front.numpy_operator(number, reflected=True)
    else:
        both = (
            lambda self, other: operators.apply(name, self, other),
            lambda self, other: operators.apply(name, other, self),
        )
    return (*both, lambda self, other: operators.in_place(name, self, other))


class ndarray(Elements, NDArray):  # noqa: N801  its public name
    """Array of one dtype on one device, with NumPy's operators and indexing.

    Create arrays with `mx.np.array`, `zeros`, `ones` and similar functions.
    """

    __slots__ = ("__dict__",)
    __module__ = "mxcy.numpy"  # where pickles look for it
    _is_numpy = True
    _functions_of = __module__

    # --- properties ---
    @property
    def dtype(self):
        """numpy.dtype: Dtype of the elements."""
        return dtypes.dtype_of(self.dtype_code)

    @property
    def itemsize(self):
        """int: Size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """int: Size of all elements in bytes."""
        return self.size * self.dtype.itemsize

    @property
    @direct("_npi_transpose", simple=False)
    def T(self):
        """ndarray: The transposed array, axes in reverse order."""
        return self.transpose()

    @property
    def mT(self):  # noqa: N802  its public name
        """ndarray: The array with its last two axes swapped.

        Raises
        ------
        ValueError
            If it has fewer than two axes.
        """
        if self.ndim < 2:
            raise ValueError(f"matrix transpose needs two dimensions, got shape {self.shape}")
        return self.swapaxes(-1, -2)

    @property
    def real(self):
        """ndarray: The real part: a copy if the array is complex, else the array itself."""
        return operators.function("real")(self)

    @property
    def imag(self):
        """ndarray: A copy of the imaginary part; zeros if the array is real."""
        return operators.function("imag")(self)

    @property
    def grad(self):
        """ndarray: Gradient computed by `backward`; None without `attach_grad`."""
        gradient = None if self.node is None else self.node.grad
        return gradient.as_np_ndarray() if type(gradient) is NDArray else gradient

    def as_nd_ndarray(self):
        """Return an `mx.nd` array that shares memory, gradient and history."""
        return as_class(self, NDArray)

    def as_np_ndarray(self):
        """Return the array itself."""
        return self

    def detach(self):
        """Return an array that shares the memory but is cut off from the graph."""
        return self.detached()

    # --- printing ---
    def __repr__(self):
        values = self.asnumpy()
        text = onp.array2string(values, separator=", ", prefix="array(")
        extra = "" if self._is_usual() else f", dtype={self.dtype}"
        if not self.size and self.shape != (0,):
            extra = f", shape={self.shape}{extra}"
        place = "" if self.context.device_type == "cpu" else f", device={self.context}"
        return f"array({text}{extra}{place})"

    def _is_usual(self):
        """Return whether `repr` omits the dtype."""
        default = onp.float64 if front.has_numpy_types() else onp.float32
        return self.dtype in (default, onp.bool_)

    def __str__(self):
        return str(self.asnumpy())

    def __format__(self, spec):
        if self.ndim == 0:
            return format(self.item(), spec)
        if spec:
            raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
        return str(self)

    # --- scalar conversion ---
    def __bool__(self):
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() "
                "or a.all()"
            )
        return bool(self.asnumpy().any())

    def __int__(self):
        return int(self._only("an integer"))

    def __float__(self):
        return float(self._only("a float"))

    def __complex__(self):
        return complex(self._only("a complex number"))

    def __index__(self):
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError(
                "only integer scalar arrays can be converted to a scalar index, got "
                f"the shape {self.shape} of {self.dtype}"
            )
        return int(self.item())

    def _only(self, kind):
        if self.size != 1:
            raise TypeError(f"only an array of one element can be converted to {kind}")
        return self.item()

    def __hash__(self):
        raise NotImplementedError("arrays of mx.np have no hash")

    @front.shortcut
    def item(self, *args):
        """Return an element as a Python scalar.

        Parameters
        ----------
        *args : int
            Index of the element; a single integer indexes the flattened array. Omit for size 1.

        Returns
        -------
        bool, int, float or complex
        """
        return self.asnumpy().item(*args)

    def tolist(self):
        """Return the elements as nested lists of Python scalars."""
        return self.asnumpy().tolist()

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value):
        return bool((self == value).any())

    # --- indexing ---
    def _get_index(self, key):
        return indexing.read(self, key)

    def _set_index(self, key, value):
        indexing.write(self, key, value)

    # --- operators beyond those of the base class ---
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary("floor_divide")
    __and__, __rand__, __iand__ = _binary("bitwise_and")
    __or__, __ror__, __ior__ = _binary("bitwise_or")
    __xor__, __rxor__, __ixor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _binary("left_shift")
    __rshift__, __rrshift__, __irshift__ = _binary("right_shift")
    __matmul__, __rmatmul__, __imatmul__ = _binary("matmul")
    __iadd__, __isub__ = _binary("add")[2], _binary("subtract")[2]
    __imul__, __itruediv__ = _binary("multiply")[2], _binary("true_divide")[2]
    __imod__, __ipow__ = _binary("mod")[2], _binary("power")[2]

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return operators.function("negative")(self)

    def __pos__(self):
        return operators.function("positive")(self)

    def __abs__(self):
        return operators.function("absolute")(self)

    def __invert__(self):
        return operators.function("bitwise_not")(self)

    def __round__(self, ndigits=None):
        return self.round(ndigits or 0)

    def __floor__(self):
        return operators.function("floor")(self)

    def __ceil__(self):
        return operators.function("ceil")(self)

    def __trunc__(self):
        return operators.function("trunc")(self)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return protocols.call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return protocols.call_function(function, args, kwargs)

    def __array_namespace__(self, api_version=None):
        versions = (None, "2021.12", "2022.12", "2023.12", "2024.12", "2021.10")
        if api_version not in versions:
            raise ValueError(f"mx.np does not follow the array API of {api_version!r}")
        return sys.modules["mxcy.numpy"]

    # --- copies ---
    @functools.partial(front.shortcut, op=find("Cast"))
    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """Return the array cast to another dtype.

        Parameters
        ----------
        dtype : dtype
        order : {'C', 'A', 'K'}
        casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}
            Which casts are allowed.
        subok : bool
            Ignored.
        copy : bool
            If False, return the array itself if it already has that dtype.

        Returns
        -------
        ndarray

        Raises
        ------
        TypeError
            If the cast is not allowed.
        ValueError
            If `order` is 'F'.
        """
        if order == "F":
            raise ValueError("astype: arrays are always in order 'C'")
        wanted = dtypes.numpy_dtype(onp.float32 if dtype is None else dtype)
        if not onp.can_cast(self.dtype, wanted, casting):
            raise TypeError(f"astype: cannot cast {self.dtype} to {wanted} by {casting!r}")
        return NDArray.astype(self, wanted, copy)

    def copy(self, order="C"):
        """Return a copy on the same device.

        Parameters
        ----------
        order : {'C', 'A', 'K'}

        Returns
        -------
        ndarray
        """
        if order not in ("C", "A", "K"):
            raise NotImplementedError(f"copy: order {order!r} is not implemented")
        return self.copyto(self.context)

    def _fresh(self, code, context):
        """Return a new uninitialised array of this class and shape."""
        return front.empty(self.shape, code, context, ndarray)

    def as_in_ctx(self, ctx):
        """Return the array on a device: itself if it is already there, otherwise a copy."""
        return self.as_in_context(as_context(ctx))

    def to_device(self, device, stream=None):
        """Return the array on a device: itself if it is already there, otherwise a copy.

        Parameters
        ----------
        device : Device
        stream : None
            Must be None: devices have no streams.

        Returns
        -------
        ndarray
        """
        if stream is not None:
            raise ValueError(f"to_device: devices have no streams, got stream={stream!r}")
        return self.as_in_context(as_context(device))

    # --- shapes ---
    @front.shortcut
    def reshape(self, *shape, order="C", copy=None):
        """Return the array with another shape; a view unless recording.

        Parameters
        ----------
        *shape : int, or one tuple of int
            One dimension may be -1 and is then inferred.
        order : {'C', 'F'}
        copy : bool, optional
            If True, always copy.

        Returns
        -------
        ndarray
        """
        if len(shape) == 1:
            (shape,) = shape
        return operators.function("reshape")(self, shape, order=order, copy=copy)

    def reshape_view(self, *shape, **kwargs):
        """Alias of `reshape`."""
        return self.reshape(*shape, **kwargs)

    def transpose(self, *axes):
        """Return the array with permuted axes, reversed by default."""
        if len(axes) == 1 and (axes[0] is None or not isinstance(axes[0], integer_types)):
            (axes,) = axes
        return operators.function("transpose")(self, axes or None)

    def flatten(self, order="C"):
        """Return a flattened 1-D copy."""
        flat = operators.function("ravel")(self, order)
        return flat if front.is_deferred() else flat.copy()

    all = FunctionMethod()
    any = FunctionMethod()
    argmax = FunctionMethod()
    argmin = FunctionMethod()
    argsort = FunctionMethod()
    argpartition = FunctionMethod()
    broadcast_to = FunctionMethod()
    choose = FunctionMethod()
    clip = FunctionMethod()
    conj = FunctionMethod()
    conjugate = FunctionMethod()
    cumprod = FunctionMethod()
    cumsum = FunctionMethod()
    diagonal = FunctionMethod()
    dot = FunctionMethod()
    max = FunctionMethod()
    mean = FunctionMethod()
    min = FunctionMethod()
    nonzero = FunctionMethod()
    partition = FunctionMethod()
    prod = FunctionMethod()
    ptp = FunctionMethod()
    ravel = FunctionMethod()
    repeat = FunctionMethod()
    round = FunctionMethod()
    searchsorted = FunctionMethod()
    sort = FunctionMethod()
    squeeze = FunctionMethod()
    std = FunctionMethod()
    sum = FunctionMethod()
    swapaxes = FunctionMethod()
    take = FunctionMethod()
    tile = FunctionMethod()
    trace = FunctionMethod()
    var = FunctionMethod()

    def compress(self, condition, axis=None, out=None):
        """Return selected slices along an axis; see `mx.np.compress`."""
        return operators.function("compress")(condition, self, axis, out)

    def broadcast_like(self, other):
        """Broadcast the array to the shape of another."""
        return self.broadcast_to(other.shape)


operands.offer_class(ndarray)

#: methods that forward to functions of `mx.np`
METHODS = tuple(n for n, value in vars(ndarray).items() if isinstance(value, FunctionMethod))

#: methods defined by `mx.nd.NDArray` itself that `mx.np` arrays do not have
_ONLY_CLASSIC = ("asscalar", "split_v2", "diag", "expand_dims")

_inherited = set(dir(NDArray))  # hasattr would create every method's function
for _name in {*vars(NDArray), *REGISTRY}:
    _operator = _name in REGISTRY and is_method(_name, REGISTRY[_name])
    if (_operator and _name in _inherited) or _name in _ONLY_CLASSIC:
        if _name not in vars(ndarray):
            setattr(ndarray, _name, Hidden(_name))
