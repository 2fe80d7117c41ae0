"""Conversion of a graph to mixed precision: casts are put where operators change the type."""

from mxcy._base.dtypes import CODES
from mxcy._base.errors import MXNetError
from mxcy.graph.node import SymbolNode, clone, topological
from mxcy.ops.core.infer import Spec, UnforeseenError
from mxcy.ops.core.record import find

__all__ = ["convert"]

_CAST, _MULTICAST, _FLOAT32 = find("amp_cast"), find("amp_multicast"), CODES["float32"]
#: types of entries: float32, the target, not known (of a variable: nobody said), one of both
_WIDE, _LOW, _OPEN, _BOTH = "float32", "target", "open", "both"


def convert(entries, policy, excluded=(), data_names=None, cast_parameters=False):
    """The entries of a copy that computes in mixed precision, its outputs in float32.

    Nothing is cast that has the type already, so converting a second time changes nothing.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    policy : Policy
        Which operators run in which type.
    excluded : container of str
        The names of nodes that run in float32.
    data_names : container of str, optional
        The variables that are no parameters; by default those without a ``__dtype__``.
    cast_parameters : bool
        Whether parameters of which only the target type is wanted are to have that type.

    Returns
    -------
    list of (SymbolNode, int)
    """
    entries = clone(entries)
    order = topological(entries)
    parameters = [node for node in order if node.op is None and _is_parameter(node, data_names)]
    pass_ = _Conversion(policy, excluded)
    for node in parameters:
        if _declared(node) is None:
            node.attrs["__dtype__"] = "0"
        if _declared(node) == _WIDE:
            pass_.types[id(node), 0] = _WIDE
    for node in order:
        pass_.visit(node)
    entries = [pass_.wide(entry, known=True) for entry in entries]
    if not cast_parameters:
        parameters = [node for node in parameters if id(node) in pass_.forced]
    _cast_parameters(entries, parameters, policy)
    return entries


def _is_parameter(node, data_names):
    return "__dtype__" in node.attrs if data_names is None else node.name not in data_names


def _declared(node):
    """What ``__dtype__`` says of a variable: float32, the code of another type, or None."""
    code = node.attrs.get("__dtype__", "-1")
    return None if code == "-1" else _WIDE if code == "0" else int(code)


class _Conversion:
    """One walk through the nodes, which are changed in place."""

    def __init__(self, policy, excluded):
        self.policy, self.excluded = policy, excluded
        self.types = {}  # (id of a node, output) -> type
        self.forced = set()  # ids of parameters that operators of either type want narrow
        self._casts = {}  # (id of a node, output, type) -> entry of the cast

    def type_of(self, entry):
        node, index = entry
        if (id(node), index) in self.types:
            return self.types[id(node), index]
        if node.op is None and _declared(node) == self.policy.code:
            return _LOW
        return _OPEN

    def cast(self, entry, goal):
        """The entry in a type; each is cast once."""
        node, index = entry
        key = id(node), index, goal
        if key not in self._casts:
            kind = self.policy.target if goal == _LOW else "float32"
            name = f"{_entry_name(node, index)}_amp_cast_{kind}"
            node_of_cast = SymbolNode(_CAST, name, {"dtype": kind}, [entry])
            self.types[id(node_of_cast), 0] = goal
            self._casts[key] = node_of_cast, 0
        return self._casts[key]

    def low(self, entry):
        """The entry in the target type."""
        return entry if self.type_of(entry) == _LOW else self.cast(entry, _LOW)

    def wide(self, entry, known=False):
        """The entry in float32, which entries of open type count as unless it must be `known`."""
        kind = self.type_of(entry)
        if kind == _WIDE or (kind == _OPEN and not known):
            return entry
        return self.cast(entry, _WIDE)

    def visit(self, node):
        """Cast the inputs of a node, and note the types of its outputs."""
        if node.op is None:
            return
        states, names = _states(node), _names(node)
        free = [
            i
            for i in range(len(node.inputs))
            if i not in states and not (names and names[i] in node.op.amp.fp32_inputs)
        ]
        kind = self._make(node, free)
        for i, entry in enumerate(node.inputs):
            if i not in free and self.type_of(entry) in (_LOW, _BOTH):
                node.inputs[i] = self.cast(entry, _WIDE)
        for index in range(len(node.outputs())):
            self.types.setdefault((id(node), index), kind)

    def _make(self, node, free):
        """Cast the inputs at the places `free`; returns the type of the outputs."""
        if node.op is _CAST:
            kind = node.parsed.dtype
            return {"float32": _WIDE, self.policy.target: _LOW}.get(kind, _OPEN)
        kind, known = self.policy.kind(node.op, node.parsed), False
        if node.name in self.excluded or node.op.in_symbols.subgraphs:
            kind = "fp32"
        elif kind == "fp32":
            known = self.policy.has_condition(node.op, node.parsed)
        if kind == "lp16":
            return self._all(node, free, self.low, _LOW)
        if kind == "fp32":
            return self._all(node, free, lambda entry: self.wide(entry, known), _WIDE)
        kinds = {self.type_of(node.inputs[i]) for i in free}
        mixed = len(kinds) > 1 and node.op.variadic and node.op is not _MULTICAST
        if kind == "widest" or mixed:
            return self._widest(node, free)
        if _LOW in kinds and len(kinds) > 1 and not self._agree(node):
            return self._brought_together(node, free)
        return kinds.pop() if len(kinds) == 1 else self._passed_on(kinds)

    def _agree(self, node):
        """Whether an operator takes inputs of these types together."""
        codes = {_LOW: self.policy.code, _WIDE: _FLOAT32}
        specs = [Spec(None, codes.get(self.type_of(entry))) for entry in node.inputs]
        try:
            node.op.infer(node.parsed, specs)
        except UnforeseenError:  # it wants to know shapes as well
            return True
        except MXNetError:
            return False
        return True

    def _brought_together(self, node, free):
        """Inputs of one type: parameters are made narrow, all that is computed is made wide."""
        others = [i for i in free if self.type_of(node.inputs[i]) != _LOW]
        if any(node.inputs[i][0].op is not None for i in others):
            return self._all(node, free, lambda entry: self.wide(entry, True), _WIDE)
        self.forced.update(id(node.inputs[i][0]) for i in others)
        return self._all(node, free, self.low, _LOW)

    def _passed_on(self, kinds):
        if kinds <= {_LOW, _OPEN} and _LOW in kinds:
            return _LOW
        return _BOTH if kinds & {_LOW, _BOTH} else _OPEN

    def _all(self, node, free, change, made):
        for i in free:
            node.inputs[i] = change(node.inputs[i])
        return made

    def _widest(self, node, free):
        """Inputs of one type: the target where all can be had in it, float32 where one is not."""
        inputs = [node.inputs[i] for i in free]
        types = [self.type_of(entry) for entry in inputs]
        has_low = [
            kind == _LOW or (id(source), index, _LOW) in self._casts
            for kind, (source, index) in zip(types, inputs, strict=True)
        ]
        if all(has_low):
            return self._all(node, free, self.low, _LOW) if inputs else _OPEN
        if all(kind == _WIDE for kind in types):
            return _WIDE
        if any(k in (_OPEN, _BOTH) and not low for k, low in zip(types, has_low, strict=True)):
            name = f"{_entry_name(*inputs[0])}_amp_multicast"
            multicast = SymbolNode(_MULTICAST, name, {"num_outputs": str(len(inputs))}, inputs)
            for output, i in enumerate(free):
                self.types[id(multicast), output] = _BOTH
                node.inputs[i] = multicast, output
            return _BOTH
        return self._all(node, free, lambda entry: self.wide(entry, True), _WIDE)


def _names(node):
    return () if node.op.variadic else node.op.arguments(node.parsed)


def _states(node):
    """The positions of a node's auxiliary states among its inputs."""
    names = _names(node)
    return [names.index(name) for name in node.op.aux if name in names]


def _entry_name(node, index):
    if node.op is None:
        return node.name
    if node.op is _CAST:
        return f"{node.name}_{index}"
    ending = node.op.symbol_outputs(node.parsed)[index]
    return f"{node.name}_{ending}"


def _cast_parameters(entries, parameters, policy):
    """Give parameters the target type where all that read them want it, and drop their casts."""
    users: dict = {}
    order = topological(entries)
    for node in order:
        for source, _ in node.inputs:
            users.setdefault(id(source), []).append(node)
    heads = {id(node) for node, _ in entries}
    code = str(CODES[policy.target])
    chosen = [
        node
        for node in parameters
        if id(node) not in heads
        and id(node) in users
        and all(_wants(user, policy, code) for user in users[id(node)])
    ]
    for node in chosen:
        node.attrs["__dtype__"] = code
    ids = {id(node) for node in chosen}
    for node in order:
        node.inputs = [_behind_cast(entry, ids) for entry in node.inputs]


def _wants(user, policy, code):
    """Whether a node wants a parameter in the target type."""
    if user.op is _CAST:
        return user.parsed.dtype == policy.target
    if user.op is not _MULTICAST:
        return False
    variables = all(source.op is None for source, _ in user.inputs)
    return variables and any(s.attrs.get("__dtype__") == code for s, _ in user.inputs)


def _behind_cast(entry, ids):
    node, _ = entry
    own = node.op is _CAST and "_amp_cast_" in node.name and id(node.inputs[0][0]) in ids
    return node.inputs[0] if own else entry
