"""Binding of one device's executor in a group."""

import numpy as np

from mxcy import ndarray as nd
from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec
from mxcy.symbol.binding import storage_types, variable_contexts

__all__ = ["bind_part"]


def _array(name, shape, dtype, ctx, known, stype):
    if known is None:
        return nd.zeros(shape, ctx=ctx, dtype=dtype, stype=stype)
    assert known.shape == tuple(shape), (
        f"{name} has shape {tuple(shape)} here, but {known.shape} in the module that it is "
        "shared with"
    )
    return known


def bind_part(group, ctx, parts, shared, group2ctx):
    """Create the executor for one device's part of the batch.

    Parameters
    ----------
    group : DataParallelExecutorGroup
        The group, which holds the symbol and classifies its arguments.
    ctx : Context
    parts : list of DataDesc
        Descriptions of this device's inputs.
    shared : Executor or None
        Executor to share parameter, gradient and state arrays with.
    group2ctx : dict of str to Context, or None
        Devices of context groups.

    Returns
    -------
    Executor
    """
    parts = [desc for desc in parts if desc.name in group.arg_names]
    shapes = {desc.name: desc.shape for desc in parts}
    arg_shapes, _, aux_shapes = group.symbol.infer_shape(**shapes)
    assert arg_shapes is not None, (
        f"the shapes of the network's arguments cannot be inferred from {shapes}"
    )
    types = {desc.name: desc.dtype for desc in parts}
    arg_types, _, aux_types = group.symbol.infer_type(**types)
    if arg_types is None:
        arg_types = [types.get(name, np.float32) for name in group.arg_names]
        aux_types = [np.float32] * len(group.aux_names)
    known_args, known_grads, known_states = {}, {}, {}
    if shared is not None:
        own = {*group.arg_names} - {*shapes, *group.state_names}
        known_args = {n: array for n, array in shared.arg_dict.items() if n in own}
        known_grads = {n: array for n, array in shared.grad_dict.items() if n in own}
        known_states = shared.aux_dict
    described = zip(
        [*group.arg_names, *group.aux_names],
        [*arg_shapes, *aux_shapes],
        [*arg_types, *aux_types],
        strict=True,
    )
    specs = {name: Spec(shape, dtypes.code_of(dtype)) for name, shape, dtype in described}
    wanted = [name for name in group.arg_names if group.grad_req[name] != "null"]
    stypes, grad_stypes = storage_types(group.symbol, specs, {}, wanted)
    places = variable_contexts(group.symbol, group2ctx, ctx)
    args, grads = [], {}
    for name, shape, dtype in zip(group.arg_names, arg_shapes, arg_types, strict=True):
        place, known = places[name], known_args.get(name)
        args.append(_array(name, shape, dtype, place, known, stypes[name]))
        if name in grad_stypes:
            known, stype = known_grads.get(name), grad_stypes[name]
            grads[name] = _array(name, shape, dtype, place, known, stype)
    states = [
        _array(name, shape, dtype, places[name], known_states.get(name), "default")
        for name, shape, dtype in zip(group.aux_names, aux_shapes, aux_types, strict=True)
    ]
    options = {} if group2ctx is None else {"group2ctx": group2ctx}
    return group.symbol.bind(
        ctx, args, args_grad=grads, grad_req=group.grad_req, aux_states=states, **options
    )
