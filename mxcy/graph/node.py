"""Linked nodes: what symbols are made of and share with each other.

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
        The operator's attributes as the user gave them, and the user's own (``__lr_mult__``,
        ``ctx_group``), all as text.
    inputs : list of (SymbolNode, int)
    """

    __slots__ = ("op", "name", "attrs", "inputs", "_parsed")

    def __init__(self, op, name, attrs=None, inputs=()):
        self.op, self.name, self.attrs = op, name, dict(attrs or {})
        self.inputs, self._parsed = list(inputs), None

    @property
    def parsed(self):
        """The operator's attributes in normal form (Attrs), dynamic ones included."""
        if self._parsed is None:
            known = self.op.schema.by_name
            attrs = {name: text for name, text in self.attrs.items() if name in known}
            if self.op.num_args is not None:
                attrs.setdefault(self.op.num_args, len(self.inputs))
            self._parsed = attrs_of(self.op, attrs)
        return self._parsed

    def changed(self):
        """Forget the parsed attributes after `attrs` or `inputs` were changed."""
        self._parsed = None

    @property
    def extra(self):
        """The attributes that are not the operator's: a dict of str to str."""
        known = self.op.schema.by_name if self.op is not None else ()
        return {name: text for name, text in self.attrs.items() if name not in known}

    def outputs(self):
        """The names of the node's outputs, hidden ones included."""
        return ("",) if self.op is None else self.op.outputs(self.parsed)

    def __repr__(self):
        return f"<{'variable' if self.op is None else self.op.name} {self.name}>"


def attrs_of(op, attributes):
    """The complete Attrs of an operator from attributes in any accepted form.

    Raises
    ------
    MXNetError
        That names operator and attribute.
    """
    attrs = op.schema.intern(op.name, attributes)
    if op.schema.dynamic_names:
        attrs = op.schema.filled(attrs, op.schema.dynamic_values(op.name, attributes))
    return attrs


def output_name(node, index):
    """The name of one output of a node, in symbols."""
    if node.op is None:
        return node.name
    return f"{node.name}_{node.op.symbol_outputs(node.parsed)[index]}"


def topological(entries):
    """The nodes that entries depend on, each after its inputs, in depth-first order of the inputs.

    Raises
    ------
    MXNetError
        When nodes depend on each other in a circle.
    """
    order, state = [], {}  # node id -> 1 on the way, 2 done
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
    """Entries of a copy of all nodes that they depend on."""
    copies = {}
    for node in topological(entries):
        inputs = [(copies[id(source)], i) for source, i in node.inputs]
        copies[id(node)] = SymbolNode(node.op, node.name, node.attrs, inputs)
    return [(copies[id(node)], index) for node, index in entries]


def replace_variables(entries, replacements):
    """Put entries in the place of variables, in the nodes themselves.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    replacements : dict of str to (SymbolNode, int)
        By the variables' names.

    Returns
    -------
    list of (SymbolNode, int)
        The entries, where they were variables replaced as well.
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
