"""JSON text of graphs, as exchanged by all versions of MXNet.

`dumps` writes the same bytes as MXNet 1.9.1. `loads` reads the files of every version and upgrades
old ones.
"""

import json

from mxcy._base.errors import MXNetError
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn
from mxcy.graph import legacy
from mxcy.graph.node import SymbolNode, topological
from mxcy.ops.core.record import MAKERS, ONLY_SYMBOLS, REGISTRY

__all__ = ["VERSION", "dumps", "input_versions", "loads"]

#: the MXNet release whose format is written: 10000 major + 100 minor + patch
VERSION = 10901
_NEWEST = 20000  # files of later releases are read with a warning
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


# --- writing -------------------------------------------------------------------------------------


def dumps(entries, remove_amp_cast=True, np_shape=False):
    """Convert a graph to JSON.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        The outputs.
    remove_amp_cast : bool
        Whether to bypass mixed-precision casts.
    np_shape : bool
        Whether the file declares NumPy shape semantics.

    Returns
    -------
    str
    """
    attrs = {"is_np_shape": ["int", 1]} if np_shape else {}
    attrs["mxnet_version"] = ["int", VERSION]
    content = _content(_without_casts(entries) if remove_amp_cast else entries)
    return _text({**content, "attrs": attrs})


def _content(entries):
    """The content of a file except for the version."""
    order = topological(entries)
    number = {id(node): i for i, node in enumerate(order)}
    nodes, rows = [], [0]
    for node, versions in zip(order, input_versions(order), strict=True):
        subgraphs = () if node.op is None else node.op.in_symbols.subgraphs
        described = {"op": _file_name(node), "name": node.name}
        attrs = {key: text for key, text in sorted(node.attrs.items()) if key not in subgraphs}
        if attrs:
            described["attrs"] = attrs
        described["inputs"] = [
            [number[id(source)], index, version]
            for (source, index), version in zip(node.inputs, versions, strict=True)
        ]
        if subgraphs:
            described["subgraphs"] = [_content(loads(node.attrs[key])) for key in subgraphs]
        nodes.append(described)
        rows.append(rows[-1] + (1 if node.op is None else node.op.listed(node.parsed)))
    return {
        "nodes": nodes,
        "arg_nodes": [i for i, node in enumerate(order) if node.op is None],
        "node_row_ptr": rows,
        "heads": [[number[id(node)], index, 0] for node, index in entries],
    }


def _file_name(node):
    return "null" if node.op is None else node.op.in_symbols.file_name or node.op.name


def input_versions(order):
    """For each node, the number of writes to each of its inputs before the node runs.

    Parameters
    ----------
    order : list of SymbolNode
        In topological order.

    Returns
    -------
    list of list of int
    """
    writes, versions = {}, []  # id of a variable -> number of writes so far
    for node in order:
        for position in node.states():
            source = id(node.inputs[position][0])
            writes[source] = writes.get(source, 0) + 1
        versions.append([writes.get(id(source), 0) for source, _ in node.inputs])
    return versions


def _without_casts(entries):
    """Copy entries, bypassing precision casts except at the outputs."""
    order = topological(entries)
    if not any(node.op is not None and node.op.in_symbols.precision_cast for node in order):
        return entries
    copies, behind = {}, {}
    for node in order:
        inputs = [behind.get((id(n), i)) or (copies[id(n)], i) for n, i in node.inputs]
        copies[id(node)] = SymbolNode(node.op, node.name, node.attrs, inputs)
        if node.op is not None and node.op.in_symbols.precision_cast:
            behind.update(((id(node), i), entry) for i, entry in enumerate(inputs))
    return [(copies[id(node)], index) for node, index in entries]


def _text(value, indent=""):
    """Format a value like MXNet: on one line for up to ten elements or one key."""
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    if isinstance(value, dict):
        inner, short = indent + "  ", len(value) <= 1
        parts = [f"{_text(key)}: {_text(item, inner)}" for key, item in value.items()]
        return _layout("{}", parts, indent, short)
    if isinstance(value, list):
        inner, short = (
            indent + "  ",
            len(value) <= 10 and not any(isinstance(v, dict) for v in value),
        )
        return _layout("[]", [_text(item, inner) for item in value], indent, short)
    return str(value)


def _layout(brackets, parts, indent, short):
    if short:
        return f"{brackets[0]}{', '.join(parts)}{brackets[1]}"
    body = ", \n".join(f"{indent}  {part}" for part in parts)
    return f"{brackets[0]}\n{body}\n{indent}{brackets[1]}"


# --- reading -------------------------------------------------------------------------------------


def loads(text):
    """Read a graph.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of (SymbolNode, int)
        The outputs.

    Raises
    ------
    MXNetError
        If the text is not a graph, or an operator is unknown.
    """
    try:
        content = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f"cannot read the symbol's JSON: {error}") from None
    if not isinstance(content, dict):
        raise MXNetError("cannot read the symbol's JSON: expected an object")
    version, np_shape = _version(content), _has_np_shape(content)
    described = _field(content, "nodes", list)
    heads = _field(content, "heads", list)
    nodes = []
    for number, description in enumerate(described):
        nodes.append(_node(number, description, nodes, version, np_shape))
    entries = [_entry(head, nodes, "heads") for head in heads]
    if not entries:
        raise MXNetError("cannot read the symbol's JSON: heads are missing")
    legacy.upgrade(nodes, version)
    for node in nodes:
        _check(node)
    for node, index in entries:
        _check_index(node, index)
    return entries


def _field(content, name, kind, default=None):
    value = content.get(name, default)
    if not isinstance(value, kind):
        what = "is missing" if value is None else f"has the wrong type {type(value).__name__}"
        raise MXNetError(f"cannot read the symbol's JSON: field {name!r} {what}")
    return value


def _version(content):
    """The release that wrote a file; files without a version count as 0.8."""
    version = _field(content, "attrs", dict, {}).get("mxnet_version")
    if version is None:
        return 800
    if not (isinstance(version, list) and len(version) == 2 and isinstance(version[1], int)):
        raise MXNetError(f"cannot read the symbol's JSON: mxnet_version {version!r}")
    if version[1] > _NEWEST + 9999:
        warn(f"the symbol was saved by MXNet {version[1]}, which is newer than mxcy supports")
    return version[1]


def _texts(description, name):
    texts = _field(description, name, dict, {})
    for key, value in texts.items():
        if not isinstance(value, str):
            raise MXNetError(f"cannot read the symbol's JSON: {name} {key!r} is not text")
    return texts


def _has_np_shape(content):
    flag = _field(content, "attrs", dict, {}).get("is_np_shape")
    return isinstance(flag, list) and bool(flag[-1:]) and flag[-1] in (1, True)


def _node(number, description, nodes, version, np_shape):
    """Make a node from its description and the preceding nodes."""
    if not isinstance(description, dict):
        raise MXNetError(f"cannot read the symbol's JSON: node {number} is not an object")
    kind, name = _field(description, "op", str), _field(description, "name", str)
    # Versions differ in the field's name, and a file may contain several of them.
    attrs = {
        key: text
        for form in ("param", "attr", "attrs")
        for key, text in _texts(description, form).items()
    }
    op = None
    if kind != "null":
        op = MAKERS[kind](attrs) if kind in MAKERS else _registered(kind, description)
        if op is None:
            raise MXNetError(
                f"Failed loading Op {name} of type {kind}: operator {kind} is not registered"
                f"{did_you_mean(kind, REGISTRY)}"
            )
    inputs = _field(description, "inputs", list)
    if op is not None:
        op = _meant(op, len(inputs), np_shape)
    if op is not None and op.in_symbols.spellings:
        attrs = {op.in_symbols.spellings.get(key, key): text for key, text in attrs.items()}
    if op is not None and op.in_symbols.subgraphs:
        attrs.update(_bodies(op, description, version))
    return SymbolNode(op, name, attrs, [_entry(entry, nodes, name) for entry in inputs])


def _registered(kind, description):
    """The record of an operator name; those with subgraphs exist only in symbols."""
    if "subgraphs" in description and kind in ONLY_SYMBOLS:
        return ONLY_SYMBOLS[kind]
    return REGISTRY.get(kind) or ONLY_SYMBOLS.get(kind)


def _meant(op, count, np_shape):
    """The record that a name in a file refers to, which in MXNet depends on more than the name."""
    habits = op.in_symbols
    name = habits.by_count.get(count) or (habits.under_np_shape if np_shape else "")
    return REGISTRY[name] if name else op


def _bodies(op, description, version):
    """Convert the subgraphs of an operator to attributes with their JSON text."""
    bodies = _field(description, "subgraphs", list)
    if len(bodies) != len(op.in_symbols.subgraphs) or not all(isinstance(b, dict) for b in bodies):
        raise MXNetError(f"cannot read the symbol's JSON: subgraphs of {op.name}")
    attrs = {"mxnet_version": ["int", version]}
    texts = (dumps(loads(json.dumps({**body, "attrs": attrs}))) for body in bodies)
    return dict(zip(op.in_symbols.subgraphs, texts, strict=True))


def _entry(entry, nodes, where):
    """Parse (node, index) from ``[number, index]`` or ``[number, index, version]``."""
    valid = isinstance(entry, list) and len(entry) in (2, 3)
    if not valid or not all(type(n) is int and n >= 0 for n in entry) or entry[0] >= len(nodes):
        raise MXNetError(f"cannot read the symbol's JSON: entry {entry!r} of {where}")
    return nodes[entry[0]], entry[1]


def _check_index(node, index):
    count = 1
    if node.op is not None:  # files may count outputs that only MXNet's kernels have
        count = min(node.op.listed(node.parsed), len(node.op.outputs(node.parsed)))
    if index >= count:
        raise MXNetError(
            f"cannot read the symbol's JSON: output {index} of {node.name}, which has {count}"
        )


def _check(node):
    """Check a node's attributes and inputs against its operator."""
    for source, index in node.inputs:
        _check_index(source, index)
    if node.op is None:
        if node.inputs:
            raise MXNetError(f"cannot read the symbol's JSON: variable {node.name} has inputs")
        return
    if node.op.variadic:
        _ = node.parsed
        return
    wanted = node.op.arguments(node.parsed)
    least = sum(name not in node.op.optional for name in wanted)
    if not least <= len(node.inputs) <= len(wanted):
        raise MXNetError(
            f"cannot read the symbol's JSON: {node.op.name} {node.name} has {len(node.inputs)} "
            f"inputs, expected {', '.join(wanted)}"
        )
