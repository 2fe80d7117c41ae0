"""Parameters: trainable arrays of a block, with one copy per context."""

import warnings
import weakref

import numpy as np

from mxcy import autograd, initializer, symbol
from mxcy import ndarray as nd
from mxcy._base import dtypes, older_paths
from mxcy._base.listing import listing
from mxcy.context import as_contexts, cpu
from mxcy.gluon.parameter_arrays import DeferredInitializationError, ParameterArrays, with_stype
from mxcy.gluon.utils import in_numpy, shape_is_known
from mxcy.ndarray import NDArray
from mxcy.ndarray._exchange.untouched import untouched_zeros
from mxcy.profiler.scopes import scope
from mxcy.util import is_np_array, is_np_shape

__all__ = ["DeferredInitializationError", "Parameter", "Constant", "tensor_types"]

__getattr__ = older_paths.offer(__name__, "mxcy.gluon", ("ParameterDict",))
__dir__ = listing(__name__)

tensor_types = (NDArray,)

_GRAD_REQS = ("write", "add", "null")
_STYPES = ("default", "row_sparse", "csr")


class Parameter(ParameterArrays):
    """An array with its gradient, the way it is initialized, and how it is trained.

    Parameters
    ----------
    name : str
        Name, also used in messages and by initializers.
    grad_req : {'write', 'add', 'null'}
        Whether a backward pass overwrites the gradient, adds to it, or computes none.
    shape : int or tuple of int, optional
        The shape; 0 or -1 marks an extent that is inferred later.
    dtype : str or numpy.dtype
        Element type.
    lr_mult, wd_mult : float
        Multipliers of the learning rate and of the weight decay.
    init : Initializer or str, optional
        Initializer of this parameter, used instead of the network's.
    allow_deferred_init : bool
        Whether `initialize` may be called before the shape is known.
    differentiable : bool
        False for states without a gradient (`grad_req` is then always 'null').
    stype, grad_stype : {'default', 'row_sparse', 'csr'}
        Storage type of the array and of its gradient.
    """

    def __init__(
        self,
        name="weight",
        grad_req="write",
        shape=None,
        dtype=np.float32,
        lr_mult=1.0,
        wd_mult=1.0,
        init=None,
        allow_deferred_init=False,
        differentiable=True,
        stype="default",
        grad_stype="default",
    ):
        self._data = None  # the arrays, one for each of `_ctx_list`
        self._grad = None
        self._deferred_init = None  # a _Pending while initialization is deferred
        self._ctx_list = self._ctx_map = None  # see `_place`
        self._trainer_ref = None  # weak: trainers hold their parameters
        self._rows_in = None  # (store that holds all rows, key), for row_sparse
        self._var = None  # the symbol that `var` returned
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._shape = (shape,) if isinstance(shape, (int, np.integer)) else shape
        self._shape = self._shape if self._shape is None else tuple(self._shape)
        self._dtype = dtype
        self._grad_req = None
        for what, kind in (("stype", stype), ("grad_stype", grad_stype)):
            assert kind in _STYPES, (
                f"{what} for Parameter '{name}' must be one of 'default', 'row_sparse', or 'csr', "
                f"but got '{kind}'"
            )
        self._stype = stype
        self._grad_stype = grad_stype
        self._name = name
        self._full_name = None  # unique in a network; set by a ParameterDict or a block
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.grad_req = grad_req
        self.init = init

    def __repr__(self):
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    # -- attributes -------------------------------------------------------------------------------

    @property
    def name(self):
        """str: the name."""
        return self._name

    @property
    def stype(self):
        """str: storage type of the array."""
        return self._stype

    @property
    def grad_req(self):
        """str: what a backward pass does with the gradient: 'write', 'add' or 'null'."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req):
        assert req in _GRAD_REQS, (
            f"grad_req must be one of 'write', 'add', or 'null', but got '{req}'"
        )
        req = req if self._differentiable else "null"
        if req == self._grad_req:
            return
        self._grad_req = req
        if req == "null" and self._grad is not None:
            self._grad = None
            self._data = [array.detach() for array in self._data]
        elif self._data is not None:
            self._attach_gradients()

    @property
    def dtype(self):
        """str or numpy.dtype: the element type; setting it casts the arrays."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype):
        self.cast(dtype)

    @property
    def shape(self):
        """tuple of int or None: the shape; unknown extents may be set later.

        They are 0 or -1, and always -1 with NumPy shapes.
        """
        if self._shape is not None and 0 in self._shape and is_np_shape():
            return tuple(extent or -1 for extent in self._shape)
        return self._shape

    @shape.setter
    def shape(self, shape):
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        if self._shape is not None:
            agree = len(self._shape) == len(shape) and all(
                old in (-1, 0, new) for new, old in zip(shape, self._shape, strict=True)
            )
            assert agree, f"Expected shape {shape} is incompatible with given shape {self._shape}."
        self._shape = shape

    def _set_trainer(self, trainer):
        """Set the trainer that updates the parameter; None detaches it.

        Raises
        ------
        RuntimeError
            If a sparse parameter already has another trainer, whose store holds its rows.
        """
        own = self._trainer
        if own is not None and trainer is not None and own is not trainer:
            if self._stype != "default":
                raise RuntimeError(
                    f"Parameter '{self.name}' already has a trainer; a parameter with storage type "
                    f"{self._stype} can have only one"
                )
        if own is None or own is not trainer:
            self._take_rows_back()
        self._trainer_ref = None if trainer is None else weakref.ref(trainer)

    @property
    def _trainer(self):
        """Trainer or None: the trainer that updates the parameter."""
        return None if self._trainer_ref is None else self._trainer_ref()

    def __getstate__(self):
        self._fetch_rows()
        return {**self.__dict__, "_trainer_ref": None, "_rows_in": None}

    # -- initialization ---------------------------------------------------------------------------

    def initialize(
        self,
        init=None,
        ctx=None,
        default_init=initializer.Uniform(),  # noqa: B008 - never changed
        force_reinit=False,
        *,
        device=None,
    ):
        """Create and fill the arrays, or defer that until the shape is known.

        Parameters
        ----------
        init : Initializer or str, optional
            Initializer to use instead of the parameter's own.
        ctx : Context or list of Context, optional
            Contexts that get an array; the current context by default.
        default_init : Initializer or str
            Used if neither `init` nor the parameter's own initializer is set.
        force_reinit : bool
            Reinitialize if it already has a value.
        device : Context or list of Context, optional
            Alias of `ctx`.

        Raises
        ------
        ValueError
            If the shape is unknown and `allow_deferred_init` is False.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' is already initialized, ignoring. "
                "Set force_reinit=True to re-initialize.",
                UserWarning,
                stacklevel=2,
            )
            return
        self._forget_stored()
        self._data = self._grad = None
        contexts = as_contexts(ctx or device)
        self._deferred_init = _Pending(contexts, self.init if init is None else init, default_init)
        self._deferred_init.numpy = is_np_array()
        if shape_is_known(self.shape):
            self._finish_deferred_init()
        elif not self._allow_deferred_init:
            self._deferred_init = None
            raise ValueError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                f"{self.shape}."
            )

    def _finish_deferred_init(self):
        """Finish a deferred initialization now that the shape is known; otherwise do nothing."""
        if self._deferred_init is None:
            return
        pending = self._deferred_init
        assert shape_is_known(self.shape), (
            f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
            f"{self.shape}. Please specify in_units, in_channels, etc for `Block`s."
        )
        with autograd.pause():
            data = pending.data
            if data is None:
                bfloat = dtypes.code_of(self.dtype) == dtypes.BFLOAT16  # not drawn directly
                kind = "float32" if bfloat else self.dtype
                data = nd.zeros(self.shape, ctx=cpu(), dtype=kind)
                self._fill(data, pending.init, pending.default_init)
                data = data.astype(self.dtype, copy=False)
            self._spread(data.as_np_ndarray() if pending.numpy else data, pending.contexts)
        self._deferred_init = None

    def _fill(self, data, init, default_init):
        """Fill `data` with the parameter's initializer, or the network's if it has none."""
        if isinstance(init, initializer.RNNFused):
            init.set_initializer(default_init)
        if isinstance(default_init, initializer.Load):
            if init is None or self.name in default_init.param:
                default_init(initializer.InitDesc(self.name), data)
                return
            default_init = init
        elif isinstance(default_init, initializer.Mixed):
            default_init = default_init.choose(self.name) if init is None else init
        # With the attribute, initializers ignore name-based rules: biases get `init` as well.
        attrs = {"__init__": default_init if init is None else init}
        initializer.create(default_init)(initializer.InitDesc(self.name, attrs), data)

    def _spread(self, data, contexts):
        """Copy `data` to the contexts and attach gradients."""
        with scope(self.name):
            stored = with_stype(data, self._stype)
            self._place([stored.copyto(ctx) for ctx in contexts], contexts)
            self._attach_gradients()

    def _place(self, arrays, contexts):
        """Store the arrays and their contexts, in the layout that third-party subclasses rely on.

        `_ctx_map` indexes `_data` as in MXNet: by the parity of the device type (CPUs are odd),
        then by device id.
        """
        self._data = arrays
        self._ctx_list = list(contexts)
        self._ctx_map = [[], []]
        for index, context in enumerate(contexts):
            places = self._ctx_map[context.device_typeid & 1]
            places.extend([None] * (context.device_id + 1 - len(places)))
            places[context.device_id] = index

    def _attach_gradients(self):
        if self.grad_req == "null":
            self._grad = None
            return
        self._grad = [
            untouched_zeros(array.shape, ctx, array.dtype)
            if self._grad_stype == "default"
            else nd.zeros(array.shape, ctx=ctx, dtype=array.dtype, stype=self._grad_stype)
            for ctx, array in zip(self._ctx_list, self._data, strict=True)
        ]
        if self._data[0]._is_numpy and self._grad_stype == "default":
            self._grad = [gradient.as_np_ndarray() for gradient in self._grad]
        autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _load_init(self, data, ctx=None, cast_dtype=False, dtype_source="current"):
        """Set the value from a loaded array, whether or not the parameter is initialized."""
        if self.shape:
            agree = len(self.shape) == len(data.shape) and all(
                own in (0, -1, loaded) for own, loaded in zip(self.shape, data.shape, strict=True)
            )
            assert agree, (
                f"Failed loading Parameter '{self.name}' from saved params: shape incompatible "
                f"expected {self.shape} vs saved {data.shape}"
            )
        self.shape = data.shape
        if dtypes.code_of(self.dtype) != dtypes.code_of(data.dtype):
            assert cast_dtype, (
                f"Failed loading Parameter '{self.name}' from saved params: dtype incompatible "
                f"expected {dtypes.name_of(dtypes.code_of(self.dtype))} vs saved "
                f"{dtypes.name_of(dtypes.code_of(data.dtype))}. "
                "Set cast_dtype=True to cast the dtype of saved params."
            )
            assert dtype_source in ("current", "saved"), (
                f"dtype_source must be 'current' or 'saved', got {dtype_source!r}"
            )
            if dtype_source == "current":
                data = data.astype(self.dtype)
            else:
                self.dtype = data.dtype
        contexts = None if ctx is None else as_contexts(ctx)
        known = (
            self.list_ctx() if self._data is not None or self._deferred_init is not None else None
        )
        assert contexts is None or known is None or set(contexts) == set(known), (
            f"Failed to load Parameter '{self.name}' on {contexts} because it was previously "
            f"initialized on {known}."
        )
        if self._data is None:
            self._spread(in_numpy(data), known or contexts or [cpu()])
        else:
            self.set_data(data)
        self._deferred_init = None

    def var(self):
        """Symbol: the variable that represents the parameter in graphs."""
        if self._var is None:
            unknown = -1 if is_np_shape() else 0  # marks an unknown extent
            extents = (n if n > 0 else unknown for n in self.shape or ())
            self._var = symbol.var(
                self._full_name or self.name,
                shape=None if self.shape is None else tuple(extents),
                dtype=self.dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init,
                stype=self._stype,
            )
        return self._var


class _Pending:
    """Arguments of a deferred initialization."""

    def __init__(self, contexts, init, default_init):
        self.contexts = contexts
        self.init = init
        self.default_init = default_init
        self.data = None
        self.numpy = False  # whether to create `mx.np` arrays


class Constant(Parameter):
    """A parameter with a fixed value: it has no gradient and trainers do not update it.

    Parameters
    ----------
    name : str
        Name; may be omitted, leaving the value as the only argument.
    value : NDArray or array_like
        The value.
    """

    def __init__(self, name, value=None):
        if value is None:
            name, value = "const", name
        if not isinstance(value, NDArray):
            value = in_numpy(nd.array(value))
        self.value = value
        super().__init__(
            name,
            grad_req="null",
            shape=value.shape,
            dtype=value.dtype,
            init=initializer.Constant(value),
            differentiable=False,
        )
