"""Linked nodes, of which symbols consist and which they share.

A symbol holds entries, pairs of (node, output index). `Graph` is the flat form that passes work on.
"""

from mxcy._base.errors import MXNetError

__all__ = ["SymbolNode", "attrs_of", "clone", "output_name", "replace_variables", "topological"]


class SymbolNode:
    """An operation or, with `op` None, a variable.

    Attributes
    ----------
    op : Op or None
    name : str
    attrs : dict of str to str
        The operator's attributes as given by the user, and the user's own (``__lr_mult__``,
        ``ctx_group``), all as str.
    inputs : list of (SymbolNode, int)
    """

    __slots__ = ("op", "name", "attrs", "inputs", "_parsed")

    def __init__(self, op, name, attrs=None, inputs=()):
        self.op, self.name, self.attrs = op, name, dict(attrs or {})
        self.inputs, self._parsed = list(inputs), None

    @property
    def parsed(self):
        """The operator's parsed attributes (Attrs), including dynamic ones."""
        if self._parsed is None:
            known = self.op.schema.by_name
            attrs = {name: text for name, text in self.attrs.items() if name in known}
            if self.op.num_args is not None:
                attrs.setdefault(self.op.num_args, len(self.inputs))
            self._parsed = attrs_of(self.op, attrs)
        return self._parsed

    def changed(self):
        """Discard the parsed attributes after a change of `attrs` or `inputs`."""
        self._parsed = None

    @property
    def extra(self):
        """The attributes that do not belong to the operator, as a dict of str to str."""
        known = self.op.schema.by_name if self.op is not None else ()
        return {name: text for name, text in self.attrs.items() if name not in known}

    def states(self):
        """The positions of the auxiliary states among the inputs."""
        if self.op is None or not self.op.stateful:
            return ()
        return self.op.states(self.parsed)

    def outputs(self):
        """The names of the node's outputs, including hidden ones."""
        return ("",) if self.op is None else self.op.outputs(self.parsed)

    def __repr__(self):
        return f"<{'variable' if self.op is None else self.op.name} {self.name}>"


def attrs_of(op, attributes):
    """Parse attributes in any accepted form into the complete Attrs of an operator.

    Raises
    ------
    MXNetError
        Naming operator and attribute.
    """
    attrs = op.schema.intern(op.name, attributes)
    if op.schema.dynamic_names:
        attrs = op.schema.filled(attrs, op.schema.dynamic_values(op.name, attributes))
    return attrs


def output_name(node, index):
    """The name of a node's output in symbols."""
    if node.op is None:
        return node.name
    return f"{node.name}_{node.op.symbol_outputs(node.parsed)[index]}"


def topological(entries):
    """The nodes that entries depend on, each after its inputs, in depth-first order of the inputs.

    Raises
    ------
    MXNetError
        If nodes depend on each other cyclically.
    """
    order, state = [], {}  # node id -> 1 in progress, 2 done
    stack = [entry[0] for entry in reversed(entries)]
    while stack:
        node = stack[-1]
        seen = state.get(id(node))
        if seen is None:
            state[id(node)] = 1
            for source, _ in reversed(node.inputs):
                before = state.get(id(source))
                if before is None:
                    stack.append(source)
                elif before == 1:
                    raise MXNetError(f"symbol {node.name}: its inputs depend on itself")
            continue
        stack.pop()
        if seen == 1:
            state[id(node)] = 2
            order.append(node)
    return order


def clone(entries):
    """Copy all nodes that entries depend on; return the copied entries."""
    copies = {}
    for node in topological(entries):
        inputs = [(copies[id(source)], i) for source, i in node.inputs]
        copies[id(node)] = SymbolNode(node.op, node.name, node.attrs, inputs)
    return [(copies[id(node)], index) for node, index in entries]


def replace_variables(entries, replacements):
    """Replace variables by entries, modifying nodes in place.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    replacements : dict of str to (SymbolNode, int)
        Variable name -> replacement.

    Returns
    -------
    list of (SymbolNode, int)
        The entries, also replaced if they are variables.
    """
    order = topological(entries)
    replaced = {
        id(node): replacements[node.name]
        for node in order
        if node.op is None and node.name in replacements
    }
    for node in order:
        node.inputs = [replaced.get(id(source), (source, i)) for source, i in node.inputs]
    return [replaced.get(id(node), (node, i)) for node, i in entries]
