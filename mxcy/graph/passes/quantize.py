"""Quantization: replacement of float operators by int8 ones.

Field `quantized` of a record defines the replacement and which inputs become integers with a range.
Values stay quantized between such operators; a float input is quantized once for all its users, and
results are dequantized for float users. Parameters become int8 variables with ranges
(``w_quantize``, ``w_quantize_min``, ``w_quantize_max``). Unlike other passes, this one converts
symbols, which users save and inspect.
"""

from dataclasses import dataclass, field

from mxcy.graph.control import body_graph
from mxcy.graph.fused.chains import users_of
from mxcy.graph.node import SymbolNode, output_name, topological
from mxcy.ops.core.record import ONLY_SYMBOLS, find

__all__ = ["Quantized", "Options", "calibrate", "run"]

_QUANTIZE, _REQUANTIZE = "_contrib_quantize_v2", "_contrib_requantize"
_CALIBRATION = ("min_calib_range", "max_calib_range")
_SUMMANDS = {"other": "sum"}  # its name in MXNet's fused nodes


@dataclass(frozen=True)
class Options:
    """The user's options for the pass.

    Attributes
    ----------
    dtype : {'int8', 'uint8', 'auto'}
        The dtype of quantized data.
    mode : {'full', 'smart'}
        Whether to quantize all possible nodes, or those that are worth it and what lies between
        them.
    by_channel : bool
        Whether weights have a range per output channel, if the operator supports it.
    names, operators : frozenset of str
        Nodes, including those inside fused ones, and operators to keep in float.
    parameters : frozenset of str
        Variables with known values that are quantized offline.
    after_readers : bool
        Whether the node that quantizes a variable is named after the input of its first reader, as
        in MXNet 2, rather than after the variable.
    """

    dtype: str = "int8"
    mode: str = "full"
    by_channel: bool = False
    names: frozenset = frozenset()
    operators: frozenset = frozenset()
    parameters: frozenset = frozenset()
    after_readers: bool = False


@dataclass
class Quantized:
    """The quantized graph.

    Attributes
    ----------
    entries : list of (SymbolNode, int)
    layers : list of str
        The float outputs whose ranges calibration has to find.
    kept : dict of str to str
        Name of a node kept in float despite a quantized operator -> reason.
    """

    entries: list
    layers: list = field(default_factory=list)
    kept: dict = field(default_factory=dict)


def run(entries, options):
    """Quantize a graph.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        The float outputs; their nodes are not modified.
    options : Options

    Returns
    -------
    Quantized
    """
    order = topological(entries)
    result = Quantized([])
    chosen = _choose(order, users_of(order, entries), options, result.kept)
    builder = _Quantizing(options, chosen, result)
    for node in order:
        builder.visit(node)
    result.entries = [builder.as_float(entry) for entry in entries]
    return result


# --- node selection ------------------------------------------------------------------------------


def _choose(order, users, options, kept):
    """Choose the ids of nodes to quantize; reasons for others are added to `kept`."""
    able = {}
    for node in order:
        rule = None if node.op is None else node.op.quantized
        if rule is None:
            continue
        reason = _refusal(node, rule, options)
        if reason is None:
            able[id(node)] = rule.must
        else:
            kept[node.name] = reason
    if options.mode == "full":
        return set(able)
    reaches = _reached(order, able, lambda node: [n for n, _ in node.inputs])
    reached = _reached(
        order[::-1], able, lambda node: [n for n, *_ in users[id(node)] if n is not None]
    )
    chosen = {i for i, must in able.items() if must or (i in reaches and i in reached)}
    for node in order:
        if id(node) in able and id(node) not in chosen:
            kept[node.name] = "not between two layers that are worth it"
    return chosen


def names_inside(node):
    """Return the names of a node and of those that were fused into it.

    Parameters
    ----------
    node : SymbolNode

    Returns
    -------
    set of str
    """
    inside = {node.name}
    for key in node.op.in_symbols.subgraphs if node.op is not None else ():
        inside.update(n.name for n in body_graph(node.attrs[key]).nodes if n.op is not None)
    return inside


def _refusal(node, rule, options):
    """The reason why a node may not be quantized, or None."""
    inside = names_inside(node)
    if inside & options.names:
        return f"excluded: {', '.join(sorted(inside & options.names))}"
    if {node.op.name, *node.op.aliases} & options.operators:
        return f"excluded operator {node.op.name}"
    if "quantized" in node.attrs and node.parsed.quantized:
        return "quantized already"
    return rule.refusal(node.parsed)


def _reached(order, able, before):
    """The ids of nodes reachable from required ones through quantizable nodes."""
    reached = set()
    for node in order:
        if id(node) in able:
            sources = (id(source) for source in before(node))
            if any(able.get(i) or i in reached for i in sources):
                reached.add(id(node))
    return reached


# --- the new graph -------------------------------------------------------------------------------


class _Quantizing:
    """The quantized graph under construction."""

    def __init__(self, options, chosen, result):
        self._options, self._chosen, self._result = options, chosen, result
        self._floats = {}  # (id, index) of a float entry -> the new float entry
        self._numbers = {}  # the same -> new entries (integers, minimum, maximum)
        self._variables = {}

    def visit(self, node):
        """Copy or quantize a node."""
        if id(node) in self._chosen:
            self._quantize(node)
            return
        inputs = [self.as_float(entry) for entry in node.inputs]
        copy = SymbolNode(node.op, node.name, node.attrs, inputs)
        for index in range(1 if node.op is None else len(node.outputs())):
            self._floats[id(node), index] = (copy, index)

    def as_float(self, entry):
        """The new float entry of an old one, dequantized if necessary."""
        node, index = entry
        key = id(node), index
        if key not in self._floats:
            name = f"{node.name}_dequantize"
            if node.op.visible(node.parsed) > 1:
                name = f"{output_name(node, index)}_dequantize"
            dequantize = SymbolNode(find("_contrib_dequantize"), name, {}, self._numbers[key])
            self._floats[key] = (dequantize, 0)
        return self._floats[key]

    def _quantize(self, node):
        rule = node.op.quantized
        op = ONLY_SYMBOLS.get(rule.op) or find(rule.op)
        by_channel = self._options.by_channel and rule.by_channel is not None
        ranged = rule.by_channel if by_channel else rule.ranged
        names = [f"arg{number}" for number in range(len(node.inputs))]
        if not node.op.variadic:
            names = node.op.arguments(node.parsed)
        inputs, ranges = [], []
        for name, entry in zip(names, node.inputs, strict=False):
            if ranged is None or name in ranged:
                numbers, *of_numbers = self._in_8_bits(node, name, entry, rule.by)
                inputs.append(numbers)
                ranges += of_numbers
            else:
                inputs.append(self.as_float(entry))
        attrs = _attributes(node, op, rule, by_channel)
        quantized = SymbolNode(op, f"quantized_{node.name}", attrs, [*inputs, *ranges])
        if rule.wide or rule.calibrates:
            self._result.layers.append(output_name(node, 0))
        if rule.wide:
            quantized = self._requantized(quantized, f"requantize_{node.name}")
        if rule.by == _QUANTIZE:
            self._numbers[id(node), 0] = [(quantized, index) for index in range(3)]
            return
        for index in range(len(quantized.outputs())):  # floats, as returned by recurrent layers
            self._floats[id(node), index] = (quantized, index)

    def _requantized(self, quantized, name):
        inputs = [(quantized, index) for index in range(3)]
        return SymbolNode(find(_REQUANTIZE), name, {"out_type": self._options.dtype}, inputs)

    def _in_8_bits(self, reader, role, entry, by):
        """The new entries [integers, minimum, maximum] of an old one, quantized if necessary."""
        source, index = entry
        key = (id(source), index) if by == _QUANTIZE else (id(source), index, by)
        if key in self._numbers:
            return self._numbers[key]
        name = output_name(source, index)
        if source.op is None and name in self._options.parameters:
            ends = ("_quantize", "_quantize_min", "_quantize_max")
            entries = [(SymbolNode(None, name + end, {}), 0) for end in ends]
        else:
            attrs = {}
            if by == _QUANTIZE:
                parameter = role in ("weight", "bias")
                attrs["out_type"] = "int8" if parameter else self._options.dtype
                self._result.layers.append(name)
            if source.op is None and self._options.after_readers:
                name = f"{reader.name}_{_SUMMANDS.get(role, role)}"
            node = SymbolNode(find(by), f"{name}_quantize", attrs, [self.as_float(entry)])
            entries = [(node, number) for number in range(3)]
        self._numbers[key] = entries
        return entries


def _attributes(node, op, rule, by_channel):
    """The attributes of a quantized node as str: those that both operators have."""
    own, known = node.op.schema.by_name, op.schema.by_name
    attrs = {key: text for key, text in node.attrs.items() if key in known or key not in own}
    if rule.renamed is not None:
        attrs.update((key, str(value)) for key, value in rule.renamed(node.parsed).items())
    if by_channel and "weight" in (rule.ranged or ()):
        attrs["channel_wise_quantize"] = "True"
    if op.num_args is not None:
        attrs.setdefault(op.num_args, str(len(node.inputs)))
    return attrs


# --- calibration ---------------------------------------------------------------------------------


def calibrate(entries, ranges):
    """Set the calibrated ranges of quantized nodes.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        A quantized graph, modified in place.
    ranges : dict of str to (float, float)
        Name of a float output -> range.

    Returns
    -------
    list of str
        The names of nodes with uint8 output that have negative values.
    """
    order = topological(entries)
    users, signed = users_of(order, entries), []
    for node in order:
        limits = ranges.get(_calibrated_layer(node, users))
        if limits is None:
            continue
        low, high = (float(limit) for limit in limits)
        node.attrs |= dict(zip(_CALIBRATION, (repr(low), repr(high)), strict=True))
        if node.attrs.get("out_type") == "uint8" and low < 0:
            signed.append(node.name)
            fused = (user for user, *_ in users[id(node)] if user and user.op.in_symbols.subgraphs)
            if any(fused):  # sums with values of both signs
                node.attrs["out_type"] = "int8"
        node.changed()
    return signed


def _calibrated_layer(node, users):
    """The name of the float output whose range a quantized node needs, or None."""
    if node.op is None or _CALIBRATION[0] not in node.op.schema.by_name:
        return None
    if any(user is not None and user.op is find(_REQUANTIZE) for user, *_ in users[id(node)]):
        return None  # the range belongs to that node
    for prefix in ("requantize_", "quantized_"):
        if node.name.startswith(prefix) and len(node.inputs) > 1:
            return f"{node.name.removeprefix(prefix)}_output"
    return output_name(*node.inputs[0])
