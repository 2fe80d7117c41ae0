"""Gradient of operator RNN, and the forward pass that saves its state."""

import numpy as np

from mxcy.ops.core.attrs import Bool, Field
from mxcy.ops.core.infer import Spec, like_inputs
from mxcy.ops.core.record import native, no_rule, register, sample
from mxcy.ops.recurrent.cells import CELLS
from mxcy.ops.recurrent.layers import Net, backward
from mxcy.ops.recurrent.rnn import (
    KERNELS,
    RNN,
    STRUCT,
    call_samples,
    forward_ref,
    input_names,
    named,
    net_of,
    refusal,
    saved_spec,
    state_names,
    struct_of,
    work_of,
)

__all__ = []


def _split(net, saved):
    """Split the saved state into arrays."""
    parts, at = [], 0
    for shape in net.saved_shapes():
        size = Spec(shape, None).size
        parts.append(saved[at : at + size].reshape(shape))
        at += size
    return parts


register(
    "_rnn_saving",
    doc="""Run operator RNN in inference mode, saving the state for its gradient.""",
    inputs="data parameters state state_cell? sequence_length?",
    outputs=lambda a: ("output", *state_names(a), "saved"),
    fields=(*RNN.schema.fields, Field("dropped", Bool, False)),
    arguments=input_names,
    grad=no_rule,
    infer=lambda a, *ins: RNN.infer(a, ins),
    ref=forward_ref,
    kernels=KERNELS,
    samples=call_samples,
)


def _grad_names(a):
    return (
        *input_names(a),
        "output",
        "saved",
        "output_grad",
        *(f"{name}_grad" for name in state_names(a)),
    )


def _infer_grad(a, data, parameters, *others):
    inputs = named(_grad_names(a), (data, parameters, *others))
    out, *states, _ = RNN.infer(a, [inputs[name] for name in input_names(a)])
    inputs["saved"].fill("saved", saved_spec(a, data).shape, data.dtype)
    inputs["output"].fill("output", out.shape, out.dtype)
    for name, spec in zip(("output", *state_names(a)), (out, *states), strict=True):
        inputs[f"{name}_grad"].fill(f"{name}_grad", spec.shape, spec.dtype)
    inputs_with_gradient = [data, parameters, inputs["state"]]
    inputs_with_gradient += [inputs["state_cell"]] if "state_cell" in inputs else []
    return like_inputs(*inputs_with_gradient)


def _grad_ref(a, xp, *arrays):
    inputs = named(_grad_names(a), arrays)
    net = net_of(a, inputs["data"])
    *gradients, d_cell = backward(
        net,
        xp,
        inputs["data"],
        inputs["parameters"],
        inputs["state"],
        inputs.get("state_cell"),
        inputs.get("sequence_length"),
        inputs["output"],
        _split(net, inputs["saved"]),
        inputs["output_grad"],
        inputs["state_output_grad"],
        inputs.get("statecell_output_grad"),
    )
    return gradients if d_cell is None else (*gradients, d_cell)


def _grad_samples():
    for case in call_samples():
        a = RNN.schema.intern("RNN", case.attrs)
        data, states = case.inputs[0], case.inputs[2:]
        net = Net(a, False, *data)
        saved = sum(Spec(shape, None).size for shape in net.saved_shapes())
        shape, output = ((data[0], data[1], net.directions * net.out),) * 2
        if a.use_sequence_length:
            *states, lengths = states
            alive = np.arange(data[0])[:, None, None] < lengths[:, None]

            def output(rng, shape=shape, alive=alive):  # zero beyond the lengths
                return rng.uniform(-1, 1, shape) * alive

        yield sample(*case.inputs, output, (saved,), shape, *states, **case.attrs, grad=False)


register(
    "_rnn_grad",
    doc="""Gradients of operator RNN: of data, parameters, state and, for ``lstm``, state_cell.

Takes the inputs of RNN, its first and its last, hidden output, and its outputs' gradients.""",
    inputs="data parameters state state_cell? sequence_length? output saved output_grad "
    "state_output_grad statecell_output_grad?",
    outputs=lambda a: (
        "data_grad",
        "parameters_grad",
        "state_grad",
        *(("state_cell_grad",) if CELLS[a.mode].has_cell else ()),
    ),
    fields=(*RNN.schema.fields, Field("dropped", Bool, False)),
    arguments=_grad_names,
    grad=no_rule,
    infer=_infer_grad,
    ref=_grad_ref,
    kernels=(
        native(
            "rnn_grad",
            struct=STRUCT,
            params=struct_of,
            when=refusal,
            work=lambda a, ins, outs: 2 * work_of(a, ins, outs),
            asks=True,
            mixed=True,
        ),
    ),
    samples=_grad_samples,
)
