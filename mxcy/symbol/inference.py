"""Shape and dtype inference: the inference methods of Symbol.

Unknown dimensions are 0 and unknown shapes ``()``; with NumPy shape semantics they are -1 and None.
"""

import ast

from mxcy._base import dtypes
from mxcy._base.warning import warn
from mxcy._library.tracebacks import with_short_tracebacks
from mxcy._semantics.switches import is_np_shape
from mxcy.base import MXNetError
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer_partial
from mxcy.ops.core.infer import Spec

__all__ = [
    "infer_shape",
    "infer_shape_partial",
    "infer_type",
    "infer_type_partial",
    "known_specs",
    "partial_specs",
]

_ONE_WAY = "Can only specify known argument {} either by positional or kwargs way."


@with_short_tracebacks
def infer_shape(self, *args, **kwargs):
    """Infer the shapes of all arguments, outputs and auxiliary states.

    Parameters
    ----------
    *args : tuple of int or None
        Shapes of the arguments in the order of `list_arguments`; None if unknown.
    **kwargs : tuple of int
        Shapes of variables by name. A dimension of 0 is unknown.

    Returns
    -------
    (arg_shapes, out_shapes, aux_shapes) : lists of tuple
        Three times None, with a warning, if inference is incomplete.

    Raises
    ------
    MXNetError
        If shapes are inconsistent, or a name is not that of a variable.
    TypeError
        If a shape is not a tuple.
    """
    inferred = _infer_shape_impl(self, True, *args, **kwargs)
    arg_shapes, out_shapes, aux_shapes = inferred
    if all(_is_known(shape) for shapes in inferred for shape in shapes):
        return inferred
    unknown = [
        f"{name}: {shape}"
        for name, shape in zip(
            self.list_arguments() + self.list_auxiliary_states(),
            arg_shapes + aux_shapes,
            strict=True,
        )
        if not _is_known(shape)
    ]
    warn(
        "Cannot decide shape for the following arguments (0s in shape means unknown dimensions). "
        "Consider providing them as input:\n\t" + "\n\t".join(unknown)
    )
    return None, None, None


def infer_shape_partial(self, *args, **kwargs):
    """Infer as many shapes as possible; see `infer_shape`.

    Returns
    -------
    (arg_shapes, out_shapes, aux_shapes) : lists of tuple
        Shapes, possibly with unknown dimensions, or unknown.
    """
    return _infer_shape_impl(self, True, *args, **kwargs)


def _infer_shape_impl(self, partial, *args, **kwargs):
    """Implement `infer_shape`; without `partial`, three times None if incomplete."""
    if args and kwargs:
        raise ValueError(_ONE_WAY.format("shapes"))
    for place, shape in (*enumerate(args), *kwargs.items()):
        if not isinstance(shape, tuple) and not (shape is None and args):
            what = f"argument {place}" if args else repr(place)
            raise TypeError(f"Arguments need to be shapes (tuple), but {what} is {type(shape)}.")
    by_name = _by_name(self, args, kwargs, "InferShape")
    known = {name: Spec(_inward(shape)) for name, shape in by_name.items()}
    inferred = _infer(self, known, shapes=True)
    answer = tuple([_outward(spec.shape) for spec in specs] for specs in inferred)
    if not partial and not all(_is_known(shape) for shapes in answer for shape in shapes):
        return None, None, None
    return answer


@with_short_tracebacks
def infer_type(self, *args, **kwargs):
    """Infer the dtypes of all arguments, outputs and auxiliary states.

    Parameters
    ----------
    *args : dtype or None
        Dtypes of the arguments in the order of `list_arguments`; None if unknown.
    **kwargs : dtype
        Dtypes of variables by name.

    Returns
    -------
    (arg_types, out_types, aux_types) : lists of type
        Three times None, with a warning, if inference is incomplete.

    Raises
    ------
    MXNetError
        If dtypes are inconsistent, or a name is not that of a variable.
    """
    inferred = _infer_type_impl(self, True, *args, **kwargs)
    arg_types, _, aux_types = inferred
    if all(dtype is not None for types in inferred for dtype in types):
        return inferred
    unknown = [
        f"{name}: {dtype}"
        for name, dtype in zip(
            self.list_arguments() + self.list_auxiliary_states(), arg_types + aux_types, strict=True
        )
        if dtype is None
    ]
    warn(
        "Cannot decide type for the following arguments. Consider providing them as input:\n\t"
        + "\n\t".join(unknown)
    )
    return None, None, None


def infer_type_partial(self, *args, **kwargs):
    """Infer as many dtypes as possible; see `infer_type`.

    Returns
    -------
    (arg_types, out_types, aux_types) : lists of type or None
    """
    return _infer_type_impl(self, True, *args, **kwargs)


def _infer_type_impl(self, partial, *args, **kwargs):
    """Implement `infer_type`; without `partial`, three times None if incomplete."""
    if args and kwargs:
        raise ValueError(_ONE_WAY.format("types"))
    known = {}
    for name, dtype in _by_name(self, args, kwargs, "InferType").items():
        try:
            known[name] = Spec(None, dtypes.real_code_of(dtype))
        except MXNetError as error:
            if args:
                raise TypeError(str(error)) from None
            dtypes.numpy_dtype(dtype)  # NumPy's other dtypes are ignored, as in MXNet
    inferred = _infer(self, known, shapes=False)
    answer = tuple([_type(spec.dtype) for spec in specs] for specs in inferred)
    if not partial and not all(dtype is not None for types in answer for dtype in types):
        return None, None, None
    return answer


def _type(code):
    if code is None:
        return None
    dtype = dtypes.dtype_of(code)
    return dtype if dtype == dtypes.bfloat16 else dtype.type


# --- internal (-1, None) and public shapes -------------------------------------------------------


def _inward(shape):
    """Convert a user's shape to inference's form."""
    if is_np_shape():
        return shape
    return tuple(extent if extent > 0 else -1 for extent in shape) if shape else None


def _outward(shape):
    """Convert an inferred shape to the public form."""
    if is_np_shape():
        return shape
    return () if shape is None else tuple(0 if extent == -1 else extent for extent in shape)


def _is_known(shape):
    if is_np_shape():
        return shape is not None and -1 not in shape
    return shape != () and 0 not in shape


# --- variables -----------------------------------------------------------------------------------


def _by_name(symbol, args, kwargs, what):
    """Map positional and keyword arguments to variables' names."""
    if args:
        names = symbol.list_arguments()
        if len(args) > len(names):
            raise MXNetError(f"{what}: {len(args)} arguments for {', '.join(names) or 'none'}")
        return {n: value for n, value in zip(names, args, strict=False) if value is not None}
    names = symbol.list_inputs()
    for name in kwargs:
        if name not in names:
            listed = "".join(f"\n\t[{i}]{other}" for i, other in enumerate(names))
            raise MXNetError(
                f"{what}Keyword argument name {name} not found.\nCandidate arguments:{listed}"
            )
    return kwargs


def known_specs(symbol, specs_by_name, shapes=True, types=True):
    """Collect the known Specs of variables: given ones, else those they declare.

    Parameters
    ----------
    symbol : Symbol
    specs_by_name : dict of str to Spec
    shapes, types : bool
        Whether to use declared shapes and dtypes (``__shape__``, ``__dtype__``).

    Returns
    -------
    dict of str to Spec
    """
    known = {}
    for variable in (node for kind in symbol._variables() for node in kind):
        spec = specs_by_name.get(variable.name, Spec())
        shape, dtype = spec.shape, spec.dtype
        if shapes and shape is None and "__shape__" in variable.attrs:
            shape = _inward(_read_shape(variable))
        if types and dtype is None and "__dtype__" in variable.attrs:
            dtype = _read_dtype(variable)
        known[variable.name] = Spec(shape, dtype)
    return known


def _read_shape(variable):
    text = variable.attrs["__shape__"]
    try:
        shape = ast.literal_eval(text)
        return tuple(int(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    except (ValueError, SyntaxError, TypeError, OverflowError):
        raise MXNetError(f"variable {variable.name}: cannot read __shape__ {text!r}") from None


def _read_dtype(variable):
    text = variable.attrs["__dtype__"]
    if text == "-1":
        return None
    try:
        return dtypes.code_of(dtypes.dtype_of(int(text)))
    except (ValueError, KeyError):
        raise MXNetError(f"variable {variable.name}: cannot read __dtype__ {text!r}") from None


def partial_specs(symbol, arrays):
    """Infer as much as possible about all variables.

    Parameters
    ----------
    symbol : Symbol
    arrays : dict of str to NDArray
        Values of some variables.

    Returns
    -------
    dict of str to Spec
    """
    graph = from_entries(symbol._entries)
    specs = {name: Spec(array.shape, array.dtype_code) for name, array in arrays.items()}
    inferred = infer_partial(graph, known_specs(symbol, specs))
    return {graph.nodes[number].name: inferred[number][0] for number in graph.variables()}


def _infer(symbol, specs_by_name, shapes):
    """Infer the Specs of (arguments, outputs, auxiliary states)."""
    graph = from_entries(symbol._entries)
    try:
        known = known_specs(symbol, specs_by_name, shapes=shapes, types=not shapes)
        specs = infer_partial(graph, known, settle=is_np_shape())
    except MXNetError:
        if not shapes:
            raise
        # Shapes do not depend on types, but types that operators assume may contradict each other.
        known = known_specs(symbol, specs_by_name, shapes=True, types=True)
        specs = infer_partial(graph, known, settle=is_np_shape())
    by_name = {
        node.name: inferred[0]
        for node, inferred in zip(graph.nodes, specs, strict=True)
        if node.op is None
    }
    arguments, states = ([by_name[node.name] for node in kind] for kind in symbol._variables())
    return arguments, [specs[number][index] for number, index in graph.outputs], states
