"""In-place upgrade of graphs written by old versions of MXNet."""

from mxcy._base.warning import warn
from mxcy.graph.node import SymbolNode

__all__ = ["HIDDEN", "upgrade"]

#: user attributes that are stored with double underscores
HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope")


def upgrade(nodes, version):
    """Convert the nodes of a file to the current version's meaning.

    Parameters
    ----------
    nodes : list of SymbolNode
        All nodes, in order.
    version : int
        The release that wrote the file: 10000 major + 100 minor + patch.
    """
    for node in nodes:
        _hide_keys(node)
        if version < 900:
            _add_missing_inputs(node)
        if version < 904:
            _set_initializers(node)
        if version < 905:
            _forget_axis(node)
        node.changed()


def _hide_keys(node):
    """Add double underscores to old files' keys; ``weight_lr_mult`` moves to the weight."""
    for key in list(node.attrs):
        for hidden in HIDDEN:
            if key == hidden:
                node.attrs.setdefault(f"__{key}__", node.attrs.pop(key))
            elif key.endswith(f"_{hidden}") and not key.startswith("__"):
                _give_to_input(node, key.removesuffix(f"_{hidden}"), hidden, node.attrs.pop(key))


def _give_to_input(node, argument, hidden, text):
    names = () if node.op is None else node.op.inputs
    position = names.index(argument) if argument in names else len(node.inputs)
    if position >= len(node.inputs) or node.inputs[position][0].op is not None:
        warn(f"attribute {argument}_{hidden} of {node.name} refers to no variable and is ignored")
        return
    node.inputs[position][0].attrs[f"__{hidden}__"] = text


def _add_missing_inputs(node):
    """Add inputs missing in old files: auxiliary states and some arguments."""
    if node.op is None or node.op.variadic:
        return
    for name in node.op.arguments(node.parsed)[len(node.inputs) :]:
        if name not in node.op.optional or name in node.op.aux:
            node.inputs.append((SymbolNode(None, f"{node.name}_{name}", node.attrs), 0))


def _set_initializers(node):
    if node.op is None:
        return
    for name, text in node.op.in_symbols.initial.items():
        arguments = node.op.arguments(node.parsed)
        if name in arguments and arguments.index(name) < len(node.inputs):
            source = node.inputs[arguments.index(name)][0]
            if source.op is None:
                source.attrs.setdefault("__init__", text)


def _forget_axis(node):
    """Drop `axis=-1` of argmax and argmin, which used to mean all axes."""
    if node.op is not None and node.op.in_symbols.flat_axis and node.attrs.get("axis") == "-1":
        del node.attrs["axis"]
