"""Control flow over symbols: Python functions become subgraphs.

A function is called once, with new variables for elements and states. The nodes it creates carry an
attribute by which the subgraph is extracted; everything else it refers to becomes an input of the
operator.
"""

from mxcy import attribute
from mxcy import name as names
from mxcy._base.errors import NestingError
from mxcy.graph.control import COND, FOREACH, WHILE_LOOP
from mxcy.graph.node import SymbolNode, topological
from mxcy.symbol import register, text
from mxcy.symbol.subgraphs import MARK, Subgraph, computed, subgraph_name
from mxcy.symbol.symbol import Symbol

__all__ = ["cond", "foreach", "while_loop"]


def _flatten(nested, what):
    """Flatten nested lists of symbols; also return the nesting, for `_regroup`."""
    if isinstance(nested, Symbol):
        return list(nested), len(nested) if len(nested) > 1 else None
    if not isinstance(nested, (list, tuple)):
        raise NestingError(
            f"{what} must be a Symbol or a nested list of Symbols, got {type(nested)}"
        )
    parts = [_flatten(part, what) for part in nested]
    return [symbol for symbols, _ in parts for symbol in symbols], [shape for _, shape in parts]


def _regroup(symbols, nesting):
    """Nest an iterator's symbols as described by `_flatten`."""
    if nesting is None:
        return next(symbols)
    if isinstance(nesting, int):
        return [next(symbols) for _ in range(nesting)]
    return [_regroup(symbols, part) for part in nesting]


class _Tracer:
    """Calls functions and extracts their subgraphs.

    Parameters
    ----------
    name : str
        Prefix of new variables' names.
    symbols : list of Symbol
        The first inputs of the operator, represented by variables.
    """

    def __init__(self, name, symbols):
        self.name = names.current().get(None, name)
        self.inputs = [symbol._entries[0] for symbol in symbols]
        nodes = [SymbolNode(None, f"{self.name}_in{i}") for i in range(len(symbols))]
        self.variables = [Symbol([(node, 0)]) for node in nodes]
        self._numbers = {id(node): i for i, node in enumerate(nodes)}
        self._places = {}  # a variable's name or (id of a node outside, output) -> input's position

    def call(self, mark, function, *args):
        """Call a function, marking the nodes it creates."""
        with attribute.AttrScope(**{MARK: mark}):
            return function(*args)

    def cut(self, mark, symbols):
        """Extract the `Subgraph` of marked nodes that computes symbols."""
        heads = [symbol._entries[0] for symbol in symbols]
        copies, outside, sources = {}, {}, {}

        def inner(entry):
            source, index = entry
            if id(source) in copies:
                return copies[id(source)], index
            key = (id(source), index)
            if key not in outside:
                name = text.output_name(source, index)
                while name in {node.name for node in outside.values()}:
                    name += "_"
                outside[key] = SymbolNode(None, name)
                sources[id(outside[key])] = entry
            return outside[key], 0

        for node in topological(heads):
            own = self._numbers.get(id(node))
            if own is not None or node.attrs.get(MARK) == mark:
                inputs = [inner(entry) for entry in node.inputs]
                attrs = {**node.attrs, MARK: mark}
                copy = copies[id(node)] = SymbolNode(node.op, node.name, attrs, inputs)
                if node.op is None:
                    sources[id(copy)] = (node, 0) if own is None else own
        entries = [computed(inner(entry), i) for i, entry in enumerate(heads)]
        return Subgraph(entries, sources)

    def places(self, subgraph):
        """Return the positions of a subgraph's inputs among the operator's, adding missing ones."""
        return tuple(
            source if isinstance(source, int) else self._place(source)
            for source in subgraph.sources
        )

    def _place(self, entry):
        node, index = entry
        # Variables of one name are one argument, whichever function makes them.
        key = node.name if node.op is None else (id(node), index)
        if key not in self._places:
            self._places[key] = len(self.inputs)
            self.inputs.append(entry)
        return self._places[key]

    def apply(self, op, **attributes):
        """Apply the operator; return an iterator over its outputs."""
        inputs = [Symbol([entry]) for entry in self.inputs]
        applied = register.apply(op, op.name, inputs, {"num_args": len(inputs), **attributes})
        node = applied._entries[0][0]
        node.attrs["num_args"] = str(len(inputs) + len(op.in_symbols.subgraphs))  # counts both
        node.changed()
        return iter(applied)


def foreach(body, data, init_states, name="foreach"):
    """Call a function for each slice of arrays along their first axis.

    Parameters
    ----------
    body : callable
        ``outputs, states = body(element, states)``; called once, with symbols.
    data : Symbol or nested list of Symbol
    init_states : Symbol or nested list of Symbol
        The initial states.
    name : str
        Prefix of the subgraph's variables' names.

    Returns
    -------
    outputs : Symbol or nested list of Symbol
        The outputs of all steps, stacked along a new first axis.
    states : Symbol or nested list of Symbol
        The final states.

    Raises
    ------
    AssertionError
        If the function returns states with another nesting, or does not use data or states.
    TypeError
        If a value is not a Symbol.
    """
    data, data_form = _flatten(data, "data")
    states, state_form = _flatten(init_states, "init_states")
    tracer = _Tracer(name, data + states)
    variables = iter(tracer.variables)
    element = _regroup(variables, data_form)
    mark = subgraph_name(name)
    outs, after = tracer.call(mark, body, element, _regroup(variables, state_form))
    outs, out_form = _flatten(outs, "the output of body")
    after, after_form = _flatten(after, "the states of body")
    if after_form != state_form:
        raise NestingError("The input and output loop_vars have different format")
    subgraph = tracer.cut(mark, outs + after)
    where = [subgraph.place(number) for number in range(len(tracer.variables))]
    remain = [i for i, source in enumerate(subgraph.sources) if not isinstance(source, int)]
    tracer.places(subgraph)
    outputs = tracer.apply(
        FOREACH,
        body=subgraph.text,
        num_outputs=len(outs) + len(after),
        num_out_data=len(outs),
        in_data_locs=tuple(where[: len(data)]),
        in_state_locs=tuple(where[len(data) :]),
        remain_locs=tuple(remain),
    )
    return _regroup(outputs, out_form), _regroup(outputs, state_form)


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Call a function as long as a condition holds.

    Parameters
    ----------
    cond : callable
        ``cond(*loop_vars)`` returns a scalar symbol.
    func : callable
        ``outputs, loop_vars = func(*loop_vars)``.
    loop_vars : Symbol or list of Symbol
        The initial variables.
    max_iterations : int
        Maximum number of steps; plans compute all of them, ignoring those after the end.
    name : str
        Prefix of the subgraph's variables' names.

    Returns
    -------
    outputs : Symbol or nested list of Symbol
        The outputs of all steps, stacked along a new first axis of size `max_iterations`, with
        zeros after the end.
    loop_vars : Symbol or list of Symbol
        The final variables.

    Raises
    ------
    ValueError
        If `max_iterations` is missing or `loop_vars` is empty.
    AssertionError
        If the function returns variables with another nesting, or does not use one.
    TypeError
        If a value is not a Symbol.
    """
    if max_iterations is None:
        raise ValueError("max_iterations should be specified")
    first, form = _flatten(loop_vars, "loop_vars")
    if not first:
        raise ValueError("loop_vars should contain at least one element")
    tracer = _Tracer(name, first)
    args = tracer.variables
    marks = subgraph_name(f"{name}_cond"), subgraph_name(f"{name}_func")
    condition, _ = _flatten(tracer.call(marks[0], cond, *args), "the result of cond")
    outs, after = tracer.call(marks[1], func, *args)
    outs, out_form = _flatten([] if outs is None else outs, "the output of func")
    after, after_form = _flatten(after, "the loop_vars of func")
    if len(after) != len(first) or form not in (None, after_form):
        raise NestingError("The input and output loop_vars have different format")
    of_cond, of_func = tracer.cut(marks[0], condition), tracer.cut(marks[1], outs + after)
    outputs = tracer.apply(
        WHILE_LOOP,
        cond=of_cond.text,
        func=of_func.text,
        num_outputs=len(outs) + len(after),
        num_out_data=len(outs),
        max_iterations=max_iterations,
        cond_input_locs=tracer.places(of_cond),
        func_input_locs=tracer.places(of_func),
        func_var_locs=tuple(of_func.place(number) for number in range(len(first))),
    )
    return _regroup(outputs, out_form), _regroup(outputs, after_form)


def cond(pred, then_func, else_func, name="cond"):
    """Select one of two results by a condition.

    Parameters
    ----------
    pred : Symbol
        A scalar condition.
    then_func, else_func : callable
        Functions without arguments, whose results have equal shapes and dtypes; both are computed.
    name : str
        Prefix of the subgraph's variables' names.

    Returns
    -------
    Symbol or nested list of Symbol
        The result of `then_func` if the condition is not zero, else that of `else_func`.

    Raises
    ------
    AssertionError
        If the functions' results are nested differently.
    TypeError
        If a value is not a Symbol.
    """
    condition, _ = _flatten(pred, "pred")
    tracer = _Tracer(name, condition)
    marks = [subgraph_name(f"{name}_{part}") for part in ("pred", "then", "else")]
    then, form = _flatten(tracer.call(marks[1], then_func), "the result of then_func")
    other, other_form = _flatten(tracer.call(marks[2], else_func), "the result of else_func")
    if form != other_form:
        raise NestingError("The results of then_func and else_func have different format")
    results = (tracer.variables, then, other)
    parts = [tracer.cut(*pair) for pair in zip(marks, results, strict=True)]
    places = [tracer.places(part) for part in parts]
    outputs = tracer.apply(
        COND,
        cond=parts[0].text,
        then_branch=parts[1].text,
        else_branch=parts[2].text,
        num_outputs=len(then),
        cond_input_locs=places[0],
        then_input_locs=places[1],
        else_input_locs=places[2],
    )
    return _regroup(outputs, form)
