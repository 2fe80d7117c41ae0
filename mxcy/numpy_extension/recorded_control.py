"""Loops and branches in deferred computation: nodes with subgraphs.

Each function is called once, with views in place of its inputs, and traced into a subgraph; arrays
that it captures become inputs of the node.
"""

import contextlib

from mxcy import _deferred_compute as deferred
from mxcy import attribute, symbol
from mxcy._base.errors import TracedValueError
from mxcy._library import front
from mxcy.graph.control import COND, FOREACH, WHILE_LOOP
from mxcy.graph.node import SymbolNode, topological
from mxcy.ndarray._contrib import control
from mxcy.ndarray._functions import creation
from mxcy.symbol import attributes
from mxcy.symbol.subgraphs import MARK, Subgraph, computed, subgraph_name

__all__ = ["cond", "foreach", "while_loop", "zero_steps"]


class _Around(attribute.AttrScope):
    """Attribute scope that nests subgraphs in the surrounding one and marks no symbols."""

    def get(self, attr):
        """Return the scope's attributes."""
        return {key: text for key, text in super().get(attr).items() if key != MARK}


class _Part:
    """A function traced into a subgraph.

    Parameters
    ----------
    operator : str
        Operator that the function belongs to, for messages.
    name : str
        Name of the subgraph.
    function : callable
        ``arrays, form = function(*operands)``.
    operands : list of ndarray

    Attributes
    ----------
    arrays : list of ndarray
        Arrays that the function returned, with values.
    form
        Nesting structure of the returned arrays.
    subgraph : Subgraph
        Traced graph; its sources are operand indices, or (array, tape position) pairs.
    """

    def __init__(self, operator, name, function, operands):
        self._operator, name = operator, subgraph_name(name)
        views = [array.detach() for array in operands]
        with _Around(**{MARK: name}), deferred.part() as number:
            variables = [symbol.var(f"{name}_in{i}") for i in range(len(views))]
            deferred.set_variable(views, variables)
            self.arrays, self.form = function(*views)
        entries, others = deferred.noted(self.arrays, number, views)
        nodes = topological(entries)
        if any(node.op is not None and node.op.aux for node in nodes):
            raise TracedValueError(f"{operator}: {name} changes auxiliary states")
        own = {id(variable._entries[0][0]): i for i, variable in enumerate(variables)}
        sources = {
            id(node): own[id(node)] if id(node) in own else _placed(others[node.name])
            for node in nodes
            if node.op is None
        }
        heads = [computed(entry, i) for i, entry in enumerate(entries)]
        self.subgraph = Subgraph(heads, sources)

    def specs(self):
        """Return shape, dtype and class of each output."""
        return _specs(self.arrays)

    def positions(self, count):
        """Return the positions of the first `count` operands among the subgraph's variables.

        Raises
        ------
        TracedValueError
            If the function does not use one of them.
        """
        sources = self.subgraph.sources
        if not all(number in sources for number in range(count)):
            raise TracedValueError(f"{self._operator}: the function does not use all its arguments")
        return tuple(sources.index(number) for number in range(count))


def _specs(arrays):
    return [(array.shape, array.dtype_code, type(array)) for array in arrays]


def _placed(array):
    return array, array.node, array.node_index


@contextlib.contextmanager
def _all_steps(operands):
    """Context for running a loop step by step; yields its initial operands.

    Results computed inside belong to no graph: a graph that used one would get an unbound
    variable.
    """
    with deferred.part():
        views = [array.detach() for array in operands]
        deferred.set_variable(views, [symbol.var("_inside_a_loop") for _ in views])
        yield views


class _Control:
    """A control flow node on the tape.

    Parameters
    ----------
    op : Op
    operands : list of ndarray
        First inputs of the node, to which the operand indices of subgraphs refer.
    """

    def __init__(self, op, operands):
        self._op, self._texts = op, {}
        self._inputs = [_placed(array) for array in operands]
        self._places = {}  # positions of the other inputs

    def places(self, subgraph):
        """Return the positions of a subgraph's inputs among the node's, adding missing ones."""
        return tuple(
            source if isinstance(source, int) else self._place(source)
            for source in subgraph.sources
        )

    def _place(self, source):
        array, node, index = source
        key = (id(array), 0) if node is None else (id(node), index)
        if key not in self._places:
            self._places[key] = len(self._inputs)
            self._inputs.append(source)
        return self._places[key]

    def note(self, results, **attrs):
        """Record arrays as the outputs of the node and return them.

        Parameters
        ----------
        results : list of ndarray
        **attrs
            Attributes of the operator.
        """
        attrs["num_outputs"] = len(results)
        attrs["num_args"] = len(self._inputs) + len(self._op.in_symbols.subgraphs)  # subgraphs too
        by_name = self._op.schema.by_name
        self._texts = {
            key: value if isinstance(value, str) else attributes.text_of(by_name[key], value)
            for key, value in attrs.items()
        }
        node = front.Node()
        with deferred.values() as number:
            node.custom, node.fresh, node.context = self, number, results[0].context
        node.saved_inputs = [array for array, _, _ in self._inputs]
        node.parents = tuple(parent for _, parent, _ in self._inputs)
        node.positions = tuple(index for _, _, index in self._inputs)
        results = [array.detach() for array in results]
        for index, array in enumerate(results):
            array.node, array.node_index = node, index
        return results

    def _expressed(self, name, inputs):
        """Return the outputs as symbols; see `mxcy.symbol.recorded`."""
        node = SymbolNode(self._op, name, self._texts, inputs)
        return [(node, index) for index in range(int(self._texts["num_outputs"]))]


def _condition(operator, name, function, operands):
    """Trace a condition; cast to float32, as in MXNet's files."""
    what = f"the result of {name.rpartition('_')[2]}"

    def call(*views):
        arrays, form = control.flatten(function(*views), what)
        if len(arrays) != 1 or arrays[0].size != 1:
            raise ValueError(f"{operator}: {what} should be one number")
        return [a.astype("float32") for a in arrays], form

    return _Part(operator, name, call, operands)


def cond(pred, then_func, else_func, operands, name):
    """Record a branch as a node; see `numpy_extension.cond`.

    Raises
    ------
    TracedValueError
        If the branches' results differ in nesting, shapes or dtypes.
    """

    def part(function, suffix, what):
        def call(*views):
            return control.flatten(function(*views), what)

        return _Part("cond", f"{name}_{suffix}", call, operands)

    condition = _condition("cond", f"{name}_pred", pred, operands)
    then = part(then_func, "then", "the result of then_func")
    other = part(else_func, "else", "the result of else_func")
    if then.form != other.form or then.specs() != other.specs() or not then.arrays:
        raise TracedValueError("cond: the results of then_func and else_func differ in structure")
    node = _Control(COND, operands)
    with deferred.values():
        chosen = then if condition.arrays[0].item() else other
    results = node.note(
        chosen.arrays,
        cond=condition.subgraph.text,
        then_branch=then.subgraph.text,
        else_branch=other.subgraph.text,
        cond_input_locs=node.places(condition.subgraph),
        then_input_locs=node.places(then.subgraph),
        else_input_locs=node.places(other.subgraph),
    )
    return control.regroup(iter(results), then.form)


def foreach(body, data, init_states, name):
    """Record a loop over elements as a node; see `numpy_extension.foreach`.

    Raises
    ------
    TracedValueError
        If states change in nesting, shape or dtype, there are no elements, or `body` does not use
        the elements or a state.
    """
    whole, data_form = control.flatten(data, "data")
    states, state_form = control.flatten(init_states, "init_states")
    if not whole or not all(array.ndim and len(array) == len(whole[0]) > 0 for array in whole):
        raise TracedValueError("foreach: there are no elements, or not as many of each array")
    # The node would pass elements of vectors with one axis.
    vectors = [array.ndim == 1 for array in whole]
    rows = [x.reshape(-1, 1) if flag else x for x, flag in zip(whole, vectors, strict=True)]
    count = 0

    def step(*views):
        nonlocal count
        elements = [x.reshape(()) if flag else x for x, flag in zip(views, vectors, strict=False)]
        result = body(
            control.regroup(iter(elements), data_form),
            control.regroup(iter(views[len(rows) :]), state_form),
        )
        output, changed = control.checked_step(result)
        outs, out_form = control.flatten(output, "the output of body")
        count = len(outs)
        changed, form = control.flatten(changed, "the states of body")
        if form != state_form:
            raise TracedValueError("foreach: the states change in their nesting")
        return outs + changed, out_form

    with deferred.values():
        first = [array[0] for array in rows]
    part = _Part("foreach", name, step, first + states)
    if not part.arrays or part.specs()[count:] != _specs(states):
        raise TracedValueError("foreach: the states change in type, or there is no result")
    places = part.positions(len(rows) + len(states))
    sources = part.subgraph.sources
    node = _Control(FOREACH, rows + states)
    with _all_steps(whole + states) as views:
        elements = control.regroup(iter(views), data_form)
        before = control.regroup(iter(views[len(whole) :]), state_form)
        outs, last = control.foreach(body, elements, before)
        outs, _ = control.flatten(outs, "the outputs of body")
        last, _ = control.flatten(last, "the states of body")
    node.places(part.subgraph)
    results = node.note(
        outs + last,
        body=part.subgraph.text,
        num_out_data=count,
        in_data_locs=places[: len(rows)],
        in_state_locs=places[len(rows) :],
        remain_locs=tuple(i for i, x in enumerate(sources) if not isinstance(x, int)),
    )
    outputs = control.regroup(iter(results), part.form)
    return outputs, control.regroup(iter(results[count:]), state_form)


def while_loop(cond, func, loop_vars, max_iterations, name):
    """Record a while loop as a node; see `numpy_extension.while_loop`.

    Raises
    ------
    TracedValueError
        If loop variables change in shape or dtype, or `func` does not use one.
    """
    single = isinstance(loop_vars, front.NDArrayBase)
    first = [loop_vars] if single else list(loop_vars)
    count = 0

    def step(*views):
        nonlocal count
        output, changed = func(*views)
        outs, form = control.flatten([] if output is None else output, "the output of func")
        count = len(outs)
        changed, _ = control.flatten([] if changed is None else changed, "the loop_vars of func")
        return outs + changed, form

    of_cond = _condition("while_loop", f"{name}_cond", cond, first)
    of_func = _Part("while_loop", f"{name}_func", step, first)
    if of_func.specs()[count:] != _specs(first):
        raise TracedValueError("while_loop: the variables of the loop change in number or kind")
    places = of_func.positions(len(first))
    node = _Control(WHILE_LOOP, first)

    def holds(*variables):
        with deferred.values():
            return bool(cond(*variables).item())

    with _all_steps(first) as views:
        outs, last = control.while_loop(holds, func, views, max_iterations)
        outs, _ = control.flatten(outs, "the outputs of func")
        if not outs:  # there was no step
            outs = zero_steps(of_func.arrays[:count], max_iterations)
    results = node.note(
        outs + list(last),
        cond=of_cond.subgraph.text,
        func=of_func.subgraph.text,
        num_out_data=count,
        max_iterations=int(max_iterations),
        cond_input_locs=node.places(of_cond.subgraph),
        func_input_locs=node.places(of_func.subgraph),
        func_var_locs=places,
    )
    outputs = control.regroup(iter(results), of_func.form)
    return outputs, results[count] if single else results[count:]


def zero_steps(output, count):
    """Return the outputs of a loop without steps, given those of one step.

    Parameters
    ----------
    output : ndarray or nested list of ndarray, or None
    count : int
        Maximum number of steps.

    Returns
    -------
    nested list of ndarray
    """
    arrays, form = control.flatten([] if output is None else output, "the output of func")
    zeros = [
        creation.zeros((int(count), *array.shape), array.context, array.dtype).as_np_ndarray()
        for array in arrays
    ]
    return control.regroup(iter(zeros), form)
