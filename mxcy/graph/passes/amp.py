"""Conversion of graphs to mixed precision by inserting casts."""

from mxcy._base.dtypes import CODES
from mxcy._base.errors import MXNetError
from mxcy.graph.node import SymbolNode, clone, topological
from mxcy.ops.core.infer import Spec, UnforeseenError
from mxcy.ops.core.record import find

__all__ = ["convert"]

_CAST, _MULTICAST, _FLOAT32 = find("amp_cast"), find("amp_multicast"), CODES["float32"]
#: types of entries: float32, the target, unknown (undeclared variable), either of them
_FLOAT, _TARGET, _UNKNOWN, _BOTH = "float32", "target", "open", "both"


def convert(entries, policy, excluded=(), data_names=None, cast_parameters=False):
    """Copy a graph to compute in mixed precision, with float32 outputs.

    Conversion is idempotent: values that already have the type are not cast.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    policy : Policy
        The types in which operators run.
    excluded : container of str
        Names of nodes that run in float32.
    data_names : container of str, optional
        Variables that are not parameters, by default those without a ``__dtype__``.
    cast_parameters : bool
        Whether parameters used only in the target type get that type.

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
        if _declared(node) == _FLOAT:
            pass_.types[id(node), 0] = _FLOAT
    for node in order:
        pass_.visit(node)
    entries = [pass_.to_float32(entry, known=True) for entry in entries]
    if not cast_parameters:
        parameters = [node for node in parameters if id(node) in pass_.demoted]
    _cast_parameters(entries, parameters, policy)
    return entries


def _is_parameter(node, data_names):
    return "__dtype__" in node.attrs if data_names is None else node.name not in data_names


def _declared(node):
    """The type declared by a variable's ``__dtype__``: a type code or None."""
    code = node.attrs.get("__dtype__", "-1")
    return None if code == "-1" else _FLOAT if code == "0" else int(code)


class _Conversion:
    """A walk over the nodes, which are modified in place."""

    def __init__(self, policy, excluded):
        self.policy, self.excluded = policy, excluded
        self.types = {}  # (id of a node, output) -> type
        self.demoted = set()  # ids of parameters to use in the target type
        self._casts = {}  # (id of a node, output, type) -> entry of the cast

    def type_of(self, entry):
        node, index = entry
        if (id(node), index) in self.types:
            return self.types[id(node), index]
        if node.op is None and _declared(node) == self.policy.code:
            return _TARGET
        return _UNKNOWN

    def cast(self, entry, goal):
        """Cast an entry to a type, once per entry and type."""
        node, index = entry
        key = id(node), index, goal
        if key not in self._casts:
            kind = self.policy.target if goal == _TARGET else "float32"
            name = f"{_entry_name(node, index)}_amp_cast_{kind}"
            node_of_cast = SymbolNode(_CAST, name, {"dtype": kind}, [entry])
            self.types[id(node_of_cast), 0] = goal
            self._casts[key] = node_of_cast, 0
        return self._casts[key]

    def to_target(self, entry):
        """Cast an entry to the target type."""
        return entry if self.type_of(entry) == _TARGET else self.cast(entry, _TARGET)

    def to_float32(self, entry, known=False):
        """Cast an entry to float32, unless its type is unknown and need not be `known`."""
        kind = self.type_of(entry)
        if kind == _FLOAT or (kind == _UNKNOWN and not known):
            return entry
        return self.cast(entry, _FLOAT)

    def visit(self, node):
        """Cast the inputs of a node and record the types of its outputs."""
        if node.op is None:
            return
        states, names = node.states(), _names(node)
        free = [
            i
            for i in range(len(node.inputs))
            if i not in states and not (names and names[i] in node.op.amp.fp32_inputs)
        ]
        kind = self._convert(node, free)
        for i, entry in enumerate(node.inputs):
            if i not in free and self.type_of(entry) in (_TARGET, _BOTH):
                node.inputs[i] = self.cast(entry, _FLOAT)
        for index in range(len(node.outputs())):
            self.types.setdefault((id(node), index), kind)

    def _convert(self, node, free):
        """Cast the inputs at positions `free`; return the type of the outputs."""
        if node.op is _CAST:
            kind = node.parsed.dtype
            return {"float32": _FLOAT, self.policy.target: _TARGET}.get(kind, _UNKNOWN)
        kind, known = self.policy.kind(node.op, node.parsed), False
        if node.name in self.excluded or node.op.in_symbols.subgraphs:
            kind = "fp32"
        elif kind == "fp32":
            known = self.policy.has_condition(node.op, node.parsed)
        if kind == "lp16":
            return self._cast_all(node, free, self.to_target, _TARGET)
        if kind == "fp32":
            return self._cast_all(node, free, lambda entry: self.to_float32(entry, known), _FLOAT)
        kinds = {self.type_of(node.inputs[i]) for i in free}
        mixed = len(kinds) > 1 and node.op.variadic and node.op is not _MULTICAST
        if kind == "widest" or mixed:
            return self._widest(node, free)
        if _TARGET in kinds and len(kinds) > 1 and not self._agree(node):
            return self._unify(node, free)
        return kinds.pop() if len(kinds) == 1 else self._preserved(kinds)

    def _agree(self, node):
        """Whether an operator accepts this combination of input types."""
        codes = {_TARGET: self.policy.code, _FLOAT: _FLOAT32}
        specs = [Spec(None, codes.get(self.type_of(entry))) for entry in node.inputs]
        try:
            node.op.infer(node.parsed, specs)
        except UnforeseenError:  # inference needs shapes as well
            return True
        except MXNetError:
            return False
        return True

    def _unify(self, node, free):
        """Unify input types: parameters to the target type, computed values to float32."""
        others = [i for i in free if self.type_of(node.inputs[i]) != _TARGET]
        if any(node.inputs[i][0].op is not None for i in others):
            return self._cast_all(node, free, lambda entry: self.to_float32(entry, True), _FLOAT)
        self.demoted.update(id(node.inputs[i][0]) for i in others)
        return self._cast_all(node, free, self.to_target, _TARGET)

    def _preserved(self, kinds):
        if kinds <= {_TARGET, _UNKNOWN} and _TARGET in kinds:
            return _TARGET
        return _BOTH if kinds & {_TARGET, _BOTH} else _UNKNOWN

    def _cast_all(self, node, free, change, made):
        for i in free:
            node.inputs[i] = change(node.inputs[i])
        return made

    def _widest(self, node, free):
        """Unify input types: the target type if all inputs have it, else float32."""
        inputs = [node.inputs[i] for i in free]
        types = [self.type_of(entry) for entry in inputs]
        has_low = [
            kind == _TARGET or (id(source), index, _TARGET) in self._casts
            for kind, (source, index) in zip(types, inputs, strict=True)
        ]
        if all(has_low):
            return self._cast_all(node, free, self.to_target, _TARGET) if inputs else _UNKNOWN
        if all(kind == _FLOAT for kind in types):
            return _FLOAT
        if any(k in (_UNKNOWN, _BOTH) and not low for k, low in zip(types, has_low, strict=True)):
            name = f"{_entry_name(*inputs[0])}_amp_multicast"
            multicast = SymbolNode(_MULTICAST, name, {"num_outputs": str(len(inputs))}, inputs)
            for output, i in enumerate(free):
                self.types[id(multicast), output] = _BOTH
                node.inputs[i] = multicast, output
            return _BOTH
        return self._cast_all(node, free, lambda entry: self.to_float32(entry, True), _FLOAT)


def _names(node):
    return () if node.op.variadic else node.op.arguments(node.parsed)


def _entry_name(node, index):
    if node.op is None:
        return node.name
    if node.op is _CAST:
        return f"{node.name}_{index}"
    ending = node.op.symbol_outputs(node.parsed)[index]
    return f"{node.name}_{ending}"


def _cast_parameters(entries, parameters, policy):
    """Give parameters the target type if all readers need it, and drop their casts."""
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
    """Whether a node needs a parameter in the target type."""
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
