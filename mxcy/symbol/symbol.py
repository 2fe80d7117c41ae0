"""The class Symbol: symbolic outputs of operations."""

import ctypes

from mxcy._base import older_paths
from mxcy._base.suggestions import did_you_mean
from mxcy._semantics.switches import is_np_shape
from mxcy.base import MXNetError, NotImplementedForSymbol
from mxcy.graph.json import dumps, loads
from mxcy.graph.node import clone, topological
from mxcy.symbol import attributes, compose, inference, pointers, running, text

__all__ = ["Symbol", "Group"]

_MADE_BESIDE = (
    "Variable",
    "arange",
    "eye",
    "full",
    "histogram",
    "hypot",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "pow",
    "power",
    "split_v2",
    "var",
    "zeros",
)
__getattr__ = older_paths.offer(__name__, "mxcy.symbol", _MADE_BESIDE)


class Symbol:
    """One or several outputs of a graph of operations.

    Symbols are created by `var`, by operators (`mx.sym.exp(a)`, ``a + b``) and by `load`. They have
    arguments (variables that the user binds arrays to), auxiliary states (variables that operators
    write, such as running means) and outputs.
    """

    __slots__ = ("_entries", "__weakref__")
    _is_numpy = False
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]  # == creates a symbol

    def __init__(self, handle):
        if isinstance(handle, ctypes.c_void_p):
            handle = pointers.take(handle)
        self._entries = list(handle or ())  # None: MXNet's pickles continue with `__setstate__`

    @property
    def handle(self):
        """ctypes.c_void_p: a pointer for functions of `mx.base._LIB`."""
        return pointers.pointer_to(self)

    # --- structure --------------------------------------------------------------------------------

    @property
    def name(self):
        """str or None: name of its operation or variable; None for groups."""
        node = attributes.only_node(self._entries)
        return None if node is None else node.name

    def __repr__(self):
        name = self.name
        if name is None:
            names = ", ".join(node.name for node, _ in self._entries)
            return f"<{type(self).__name__} group [{names}]>"
        return f"<{type(self).__name__} {name}>"

    def _variables(self):
        """Return (arguments, auxiliary states) as ordered lists of nodes."""
        order = topological(self._entries)
        written = set()
        for node in order:
            written.update(id(node.inputs[place][0]) for place in node.states())
        variables = [node for node in order if node.op is None]
        return (
            [node for node in variables if id(node) not in written],
            [node for node in variables if id(node) in written],
        )

    def list_arguments(self):
        """List the names of the variables, without the auxiliary states.

        Returns
        -------
        list of str
            Names in the order of their use by operations.
        """
        return [node.name for node in self._variables()[0]]

    def list_auxiliary_states(self):
        """List the names of variables that operators write, such as BatchNorm's running means.

        Returns
        -------
        list of str
        """
        return [node.name for node in self._variables()[1]]

    def list_inputs(self):
        """List the names of all variables in order.

        Returns
        -------
        list of str
        """
        return [node.name for node in topological(self._entries) if node.op is None]

    def list_outputs(self):
        """List the names of the outputs, such as ``fc1_output``, or a variable's own name.

        Returns
        -------
        list of str
        """
        return [text.output_name(node, index) for node, index in self._entries]

    def get_internals(self):
        """Return a group of all outputs that this symbol depends on.

        Returns
        -------
        Symbol
        """
        entries = []
        for node in topological(self._entries):
            count = 1 if node.op is None else node.op.visible(node.parsed)
            entries += [(node, i) for i in range(count)]
        return type(self)(entries)

    def get_children(self):
        """Return a group of the inputs of this symbol's operations.

        Returns
        -------
        Symbol or None
            None for variables.
        """
        seen = {id(node): node for node, _ in self._entries}
        entries = [entry for node in seen.values() for entry in node.inputs]
        return type(self)(entries) if entries else None

    def get_inputs(self):
        """Return a group of all variables.

        Returns
        -------
        Symbol
        """
        return type(self)([(n, 0) for n in topological(self._entries) if n.op is None])

    # --- a sequence of outputs -------------------------------------------------------------------

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return (type(self)([entry]) for entry in self._entries)

    def __getitem__(self, index):
        """Select one output by position or name, or a group by a slice."""
        if isinstance(index, slice):
            start, stop, step = index.start or 0, index.stop, index.step or 1
            stop = len(self) if stop is None else stop
            return Group([self[i] for i in range(start, stop, step)])
        if isinstance(index, str):
            matches = [i for i, name in enumerate(self.list_outputs()) if name == index]
            if len(matches) > 1:
                raise ValueError(f'There are multiple outputs with name "{index}"')
            if not matches:
                raise ValueError(
                    f'Cannot find output that matches name "{index}"'
                    f"{did_you_mean(index, self.list_outputs())}"
                )
            index = matches[0]
        if not isinstance(index, int):
            raise TypeError("Symbol only support integer index to fetch i-th output")
        if index >= len(self):
            raise IndexError(f"index {index} is out of range for a symbol of {len(self)} outputs")
        if index < 0:
            raise MXNetError("Symbol only accept nonnegative index")
        return type(self)([self._entries[index]])

    # --- composition -----------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        """Return a copy with symbols substituted for variables.

        Parameters
        ----------
        **kwargs : Symbol
            Variable name -> symbol; `name` is the name of the result.

        Returns
        -------
        Symbol
        """
        composed = self.__copy__()
        composed._compose(*args, **kwargs)
        return composed

    def _compose(self, *args, **kwargs):
        """Substitute symbols for variables of this symbol; see `__call__`."""
        name = kwargs.pop("name", None)
        if args and kwargs:
            raise TypeError(
                "compose only accept input Symbols either as positional or keyword arguments, "
                "not both"
            )
        if not all(isinstance(value, Symbol) for value in (*args, *kwargs.values())):
            raise TypeError("Compose expect `Symbol` as arguments")
        if args:
            raise MXNetError(
                f"General composition only support kwargs for now, got {len(args)} by position"
            )
        self._entries = compose.substitute(self._entries, kwargs)
        if name:
            self._entries[0][0].name = name

    def _gen_atomic_symbol(self):
        """Return the last operation with new variables as inputs."""
        node = attributes.only_node(self._entries)
        if node is None or node.op is None:
            raise MXNetError("_gen_atomic_symbol: expected outputs of one operation")
        return type(self)(compose.apply(node.op, node.name, dict(node.attrs), (), {}))

    def __copy__(self):
        return type(self)(clone(self._entries))

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __getstate__(self):
        return {"handle": self.tojson()}

    def __setstate__(self, state):
        self._entries = loads(state["handle"])

    def __reduce__(self):
        return _restore, (type(self), self.__getstate__())

    # --- attributes ------------------------------------------------------------------------------

    attr = attributes.attr
    list_attr = attributes.list_attr
    attr_dict = attributes.attr_dict
    _set_attr = attributes._set_attr

    # --- text ------------------------------------------------------------------------------------

    def tojson(self, remove_amp_cast=True):
        """Convert the graph to JSON text readable by any MXNet.

        Parameters
        ----------
        remove_amp_cast : bool
            Whether to omit casts inserted by mixed precision.

        Returns
        -------
        str
        """
        return dumps(self._entries, remove_amp_cast, is_np_shape())

    def save(self, fname, remove_amp_cast=True) -> None:
        """Write the graph to a JSON file.

        Parameters
        ----------
        fname : str
        remove_amp_cast : bool
            Whether to omit casts inserted by mixed precision.
        """
        if not isinstance(fname, str):
            raise TypeError("fname need to be string")
        text.write(fname, self.tojson(remove_amp_cast))

    def debug_str(self):
        """List all nodes with their inputs and attributes, for debugging.

        Returns
        -------
        str
        """
        return text.debug(self._entries)

    # --- inference -------------------------------------------------------------------------------

    infer_shape = inference.infer_shape
    infer_shape_partial = inference.infer_shape_partial
    infer_type = inference.infer_type
    infer_type_partial = inference.infer_type_partial
    _infer_shape_impl = inference._infer_shape_impl
    _infer_type_impl = inference._infer_type_impl

    # --- running ---------------------------------------------------------------------------------

    bind = running.bind
    simple_bind = running.simple_bind
    _bind = running._bind
    _simple_bind = running._simple_bind
    eval = running.eval
    optimize_for = running.optimize_for
    get_backend_symbol = running.get_backend_symbol
    has_dynamic_shape_op = running.has_dynamic_shape_op

    def gradient(self, wrt):
        """Not supported: executors compute gradients.

        Raises
        ------
        MXNetError
            Always, as MXNet does.
        """
        raise MXNetError("Symbol.gradient: bind the symbol and call backward of the executor")

    @property
    def num_outputs(self):
        """int: number of outputs."""
        return len(self._entries)

    def as_nd_ndarray(self):
        """Return the symbol itself.

        Returns
        -------
        Symbol
        """
        return self

    as_classic_symbol = as_nd_ndarray

    def __bool__(self):
        raise NotImplementedForSymbol(self.__bool__, "bool")

    __nonzero__ = __bool__

    def asnumpy(self):
        """Not supported: symbols have no values."""
        raise NotImplementedForSymbol(self.asnumpy)

    def asscalar(self):
        """Not supported: symbols have no values."""
        raise NotImplementedForSymbol(self.asscalar)

    def wait_to_read(self):
        """Not supported: symbols have no values."""
        raise NotImplementedForSymbol(self.wait_to_read)

    def copy(self) -> "Symbol":
        """Not supported; use `copy.copy`."""
        raise NotImplementedForSymbol(self.copy)

    def as_in_context(self):
        """Not supported: symbols have no values."""
        raise NotImplementedForSymbol(self.as_in_context)

    def detach(self):
        """Not supported; use `mx.sym.BlockGrad` to stop gradients."""
        raise NotImplementedForSymbol(self.detach)

    def backward(self):
        """Not supported: executors compute gradients."""
        raise NotImplementedForSymbol(self.backward)


def _restore(cls, state):
    restored = cls.__new__(cls)
    restored.__setstate__(state)
    return restored


def Group(symbols, create_fn=Symbol):
    """Group the outputs of several symbols.

    Parameters
    ----------
    symbols : list of Symbol
    create_fn : callable
        Creates the symbol from the entries.

    Returns
    -------
    Symbol

    Raises
    ------
    TypeError
        If there are none, or one is not a Symbol.
    """
    if isinstance(symbols, Symbol):
        raise TypeError("Expected a list of symbols as input, got one symbol")
    if not symbols or any(not isinstance(symbol, Symbol) for symbol in symbols):
        raise TypeError("Expected a list of symbols as input")
    return create_fn([entry for symbol in symbols for entry in symbol._entries])
