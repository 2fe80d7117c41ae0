"""Monitoring of executors: a callback receives every operator's arrays under MXNet's names."""

from mxcy import ndarray as nd
from mxcy._library.c_interface import CallbackText
from mxcy.graph.gradient import HEAD
from mxcy.graph.node import topological
from mxcy.ops.core.in_symbols import monitored_inputs, monitored_outputs

__all__ = ["Watcher"]


class Watcher:
    """Passes an executor's arrays to a callback.

    Parameters
    ----------
    callback : callable
        ``callback(name, array)``.
    entries : list of (SymbolNode, int)
        The symbol's outputs.
    with_inputs : bool
        Whether to pass operators' inputs as well.
    """

    def __init__(self, callback, entries, with_inputs):
        self._callback, self._with_inputs = callback, with_inputs
        self._nodes = {node.name: node for node in topological(entries) if node.op is not None}
        self._gradients = {}  # training mode -> notes of `trace` on its graph

    @property
    def settings(self):
        """The arguments of `Executor.set_monitor_callback`."""
        return self._callback, self._with_inputs

    def _show(self, name, array):
        self._callback(CallbackText(name), array)

    def visit(self, step, inputs, outputs):
        """Report the arrays of a step of the forward pass.

        Parameters
        ----------
        step : mxcy.graph.planning.plan.Step
        inputs, outputs : list of NDArray
            Views of memory that later steps may reuse.
        """
        node = self._nodes.get(step.name)
        if node is not None:
            self.show_node(node, inputs, outputs)
        elif not step.call.op.identity:  # a loop's step rather than a copy added by the plan
            for name, array in zip(step.call.op.outputs(step.call.attrs), outputs, strict=False):
                self._show(f"{step.name}_{name}", array.copy())

    def show_node(self, node, inputs, outputs):
        """Report the arrays of an operator of the symbol.

        Parameters
        ----------
        node : SymbolNode
        inputs, outputs : list of NDArray
        """
        if self._with_inputs:
            names = monitored_inputs(node.op, node.parsed, len(inputs))
            for (source, _), name, array in zip(node.inputs, names, inputs, strict=False):
                if source.op is None:
                    self._show(source.name, array)
                self._show(f"{node.name}_{name}", array.copy())
        for name, array in zip(monitored_outputs(node.op, node.parsed), outputs, strict=False):
            self._show(f"{node.name}_{name}", array.copy())

    def trace(self, training, graph, noted):
        """Add the gradients of all operators' inputs to a graph's outputs.

        Parameters
        ----------
        training : bool
            Whether the graph is in training mode.
        graph : Graph
            A graph with a backward pass, to which outputs are added.
        noted : list of (int, list)
            The trace of `gradient`: nodes, and the gradient entries of their inputs.
        """
        notes = []  # (name, whether the gradient is an output, Spec)
        for number, entries in noted:
            node = graph.nodes[number]
            states = node.op.states(node.attrs) if node.op.stateful else ()
            learned = [place for place in range(len(entries)) if place not in states]
            for count, place in enumerate(learned):
                ending = "" if len(learned) == 1 else count
                name = f"{node.name}_backward_output{ending}"
                notes.append((name, entries[place] is not None, graph.spec(node.inputs[place])))
                if entries[place] is not None:
                    graph.outputs.append(entries[place])
        self._gradients[training] = notes

    def show_gradients(self, training, graph, heads, arrays):
        """Report the results of the backward pass, zeros where no gradient was requested.

        Parameters
        ----------
        training : bool
        graph : Graph
        heads : list of NDArray
            Gradients of the outputs.
        arrays : list of NDArray
            The outputs that `trace` added.
        """
        read = {source for node in graph.nodes for source, _ in node.inputs}
        used = {graph.nodes[number].name for number in read}
        for position, head in enumerate(heads):
            if f"{HEAD}{position}" in used:
                self._show(f"_head_grad_{position}_id_output", head)
        computed = iter(arrays)
        for name, is_output, spec in self._gradients[training]:
            array = next(computed) if is_output else nd.zeros(spec.shape)
            self._show(name, array)
