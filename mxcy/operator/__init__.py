"""`mx.operator`: operators written in Python.

A class of `CustomOpProp`, registered under a name, tells of inputs, outputs, shapes and types, and
makes objects of `CustomOp`, which compute. `mx.nd.Custom`, `mx.sym.Custom` and `F.Custom` call them
by the name.
"""

import ctypes
import logging
from collections import namedtuple

import numpy as np

from mxcy import profile
from mxcy._base.listing import listing
from mxcy.base import MXNetError, NDArrayHandle, py_str
from mxcy.custom.described import NAME, PROPERTIES
from mxcy.ndarray import NDArray, array
from mxcy.operator.legacy import NDArrayOp, NumpyOp, PythonOp
from mxcy.ops.core.record import ONLY_SYMBOLS, REGISTRY

# The last four come with a star from MXNet's module too; callbacks of monitors need them.
__all__ = [
    "CustomOp",
    "CustomOpProp",
    "NDArrayOp",
    "NumpyOp",
    "OperatorArguments",
    "PythonOp",
    "get_all_registered_operators",
    "get_all_registered_operators_grouped",
    "get_operator_arguments",
    "register",
    "NDArray",
    "NDArrayHandle",
    "ctypes",
    "py_str",
]

__dir__ = listing(__name__)

#: the number of arguments of an operator, their names and their type texts
OperatorArguments = namedtuple("OperatorArguments", ["narg", "names", "types"])


class CustomOp:
    """What an operator computes; derive from it.

    One object serves the forward pass and the backward pass that follows it, and may keep what it
    needs between them. The arrays of the methods may be used until the methods return.
    """

    def forward(self, is_train, req, in_data, out_data, aux):
        """Compute the outputs.

        Parameters
        ----------
        is_train : bool
            The mode.
        req : list of str
            What is to be done with each output; see `assign`.
        in_data : list of NDArray
            The inputs, read-only.
        out_data : list of NDArray
            The outputs, to be written.
        aux : list of NDArray
            The auxiliary states, which may be changed.
        """

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Compute the gradients of the inputs.

        Parameters
        ----------
        req : list of str
            What is to be done with each gradient; ``'null'`` where none is wanted.
        out_grad, in_data, out_data : list of NDArray
            The gradients of the outputs, the inputs and outputs; None in the place of those that
            `CustomOpProp.declare_backward_dependency` leaves out.
        in_grad : list of NDArray
            The gradients, to be written.
        aux : list of NDArray
            The auxiliary states, which may be changed.
        """

    def assign(self, dst, req, src):
        """Store a result as requested.

        Parameters
        ----------
        dst : NDArray
        req : {'null', 'write', 'inplace', 'add'}
            ``'null'``: not at all; ``'add'``: on top of what is there.
        src : NDArray, numpy.ndarray or number
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            if isinstance(src, np.ndarray):
                src = array(src, dst.context, dst.dtype)
            dst[:] += src


class CustomOpProp:
    """What is to be known of an operator before it computes; derive from it.

    Parameters
    ----------
    need_top_grad : bool
        Whether the backward pass reads the gradients of the outputs, which losses do not. Other
        parameters of a derived class get texts: what calls of `Custom` were given.
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape):
        """The shapes of inputs, outputs and auxiliary states.

        Parameters
        ----------
        in_shape : list of list of int
            As far as known; in symbols, an empty list stands for an unknown shape.

        Returns
        -------
        in_shape, out_shape, aux_shape : list
            The last may be left out. By default outputs are like the first input.
        """
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type):
        """The types of inputs, outputs and auxiliary states.

        Parameters
        ----------
        in_type : list of type
            Such as ``numpy.float32``; in symbols, None stands for an unknown type.

        Returns
        -------
        in_type, out_type, aux_type : list
            The last may be left out. By default all are like the first input.
        """
        outs, states = self.list_outputs(), self.list_auxiliary_states()
        return in_type, [in_type[0]] * len(outs), [in_type[0]] * len(states)

    def infer_storage_type(self, in_stype):
        """The storage types of inputs, outputs and auxiliary states: all are ``'default'``.

        Raises
        ------
        AssertionError
            When an input's is another.
        """
        for number, stype in enumerate(in_stype):
            assert stype == "default", (
                f"input {number} has storage type {stype}; infer_storage_type accepts only default"
            )
        outs, states = self.list_outputs(), self.list_auxiliary_states()
        return in_stype, ["default"] * len(outs), ["default"] * len(states)

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """The storage types of what the backward pass uses: all are ``'default'``.

        Raises
        ------
        AssertionError
            When one is another.
        """
        lists = [ograd_stype, in_stype, out_stype, igrad_stype, aux_stype]
        for stypes in (ograd_stype, igrad_stype):
            for number, stype in enumerate(stypes):
                assert stype in ("default", "undefined"), (
                    f"gradient {number} has storage type {stype}; infer_storage_type_backward "
                    "accepts only default"
                )
        return tuple(["default"] * len(stypes) for stypes in lists)

    def list_arguments(self):
        """The names of the inputs; ``['data']`` by default."""
        return ["data"]

    def list_outputs(self):
        """The names of the outputs; ``['output']`` by default."""
        return ["output"]

    def list_auxiliary_states(self):
        """The names of arrays that the operator keeps and changes; none by default."""
        return []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """What the backward pass reads.

        Parameters
        ----------
        out_grad, in_data, out_data : list of int
            Numbers that stand for the arrays.

        Returns
        -------
        list of int
            Some of them; by default all, without `out_grad` if `need_top_grad` is False.
        """
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """An object that computes.

        Parameters
        ----------
        ctx : Context
        in_shapes : list of list of int
            The inputs' shapes.
        in_dtypes : list of int
            MXNet's numbers of their element types: 0 for float32, ...

        Returns
        -------
        CustomOp
        """
        return CustomOp()


def register(reg_name):
    """A class decorator that registers a subclass of `CustomOpProp` under a name.

    A class that was registered under the name before is replaced, with a logged warning.

    Parameters
    ----------
    reg_name : str

    Returns
    -------
    callable
    """

    def enter(prop_cls):
        if reg_name in PROPERTIES and PROPERTIES[reg_name] is not prop_cls:
            logging.warning("custom operator %s is registered again", reg_name)
        PROPERTIES[reg_name] = prop_cls
        return prop_cls

    return enter


register("custom_op")(CustomOpProp)


def get_all_registered_operators():
    """The names of all operators, aliases included.

    Returns
    -------
    list of str
    """
    return [*REGISTRY, *ONLY_SYMBOLS, NAME]


def get_all_registered_operators_grouped():
    """The operators with their names.

    Returns
    -------
    dict of str to list of str
        An operator's name and all its names, that one included.
    """
    groups: dict = {name: [name] for name in (*ONLY_SYMBOLS, NAME)}
    for name, record in REGISTRY.items():
        groups.setdefault(record.name, []).append(name)
    return groups


def get_operator_arguments(op_name):
    """The inputs and attributes of an operator.

    Parameters
    ----------
    op_name : str

    Returns
    -------
    OperatorArguments
        A named tuple: `narg`, `names`, and `types`, texts such as ``"int, required"``.

    Raises
    ------
    MXNetError
        When there is no such operator.
    """
    if op_name == NAME:
        return OperatorArguments(2, ["data", "op_type"], ["NDArray-or-Symbol[]", "string"])
    record = REGISTRY.get(op_name) or ONLY_SYMBOLS.get(op_name)
    if record is None:
        raise MXNetError(f"operator {op_name} is not registered")
    inputs = [record.variadic] if record.variadic else list(record.inputs)
    kind = "NDArray-or-Symbol[]" if record.variadic else "NDArray-or-Symbol"
    fields = record.schema.fields
    names = inputs + [field.name for field in fields]
    if profile.is_mxnet_2():
        texts = [field.type.generation_2.text(field.default) for field in fields]
    else:
        texts = [field.text for field in fields]
    types = [kind] * len(inputs) + texts
    return OperatorArguments(len(names), names, types)
