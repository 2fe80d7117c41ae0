"""Put operators on 8-bit integers in the place of float ones.

What stands for an operator, and which of its inputs become numbers with a range, tells the field
`quantized` of its record. Between two such operators numbers stay as they are; a float input is
quantized once for all its users, a float user gets the result dequantized. Parameters become
variables of int8 with their ranges (``w_quantize``, ``w_quantize_min``, ``w_quantize_max``).

Unlike other passes this one makes a symbol of a symbol: users save it and look at it.
"""

from dataclasses import dataclass, field

from mxcy.graph.control import body_graph
from mxcy.graph.fused.chains import users_of
from mxcy.graph.node import SymbolNode, output_name, topological
from mxcy.ops.core.record import ONLY_SYMBOLS, find

__all__ = ["Answer", "Wish", "calibrate", "run"]

_QUANTIZE, _REQUANTIZE = "_contrib_quantize_v2", "_contrib_requantize"
_CALIBRATION = ("min_calib_range", "max_calib_range")
_SUMMANDS = {"other": "sum"}  # what fused nodes call it in MXNet


@dataclass(frozen=True)
class Wish:
    """What the user asks of the pass.

    Attributes
    ----------
    dtype : {'int8', 'uint8', 'auto'}
        Of quantized data.
    mode : {'full', 'smart'}
        Whether all nodes are quantized that can be, or those that are worth it and what lies
        between them.
    by_channel : bool
        Whether weights keep a range for each output channel, where the operator can.
    names, operators : frozenset of str
        Nodes, also inside of fused ones, and operators that stay float.
    parameters : frozenset of str
        Variables whose values are known and quantized before.
    after_readers : bool
        Whether what quantizes a variable is named after the input of its first reader, as in
        MXNet 2, and not after the variable.
    """

    dtype: str = "int8"
    mode: str = "full"
    by_channel: bool = False
    names: frozenset = frozenset()
    operators: frozenset = frozenset()
    parameters: frozenset = frozenset()
    after_readers: bool = False


@dataclass
class Answer:
    """The quantized graph.

    Attributes
    ----------
    entries : list of (SymbolNode, int)
    layers : list of str
        The float outputs whose ranges calibration has to find.
    kept : dict of str to str
        Names of nodes that stayed float, though there is a quantized operator: why.
    """

    entries: list
    layers: list = field(default_factory=list)
    kept: dict = field(default_factory=dict)


def run(entries, wish):
    """Quantize a graph.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        The float outputs; the nodes stay as they are.
    wish : Wish

    Returns
    -------
    Answer
    """
    order = topological(entries)
    answer = Answer([])
    chosen = _choose(order, users_of(order, entries), wish, answer.kept)
    builder = _Quantizing(wish, chosen, answer)
    for node in order:
        builder.visit(node)
    answer.entries = [builder.as_float(entry) for entry in entries]
    return answer


# --- which nodes ---------------------------------------------------------------------------------


def _choose(order, users, wish, kept):
    """The ids of the nodes that are quantized; why others are not goes to `kept`."""
    able = {}
    for node in order:
        rule = None if node.op is None else node.op.quantized
        if rule is None:
            continue
        reason = _refusal(node, rule, wish)
        if reason is None:
            able[id(node)] = rule.must
        else:
            kept[node.name] = reason
    if wish.mode == "full":
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


def _refusal(node, rule, wish):
    """Why a node may not be quantized, or None."""
    inside = {node.name}
    for text in (node.attrs[key] for key in node.op.in_symbols.subgraphs):
        inside.update(n.name for n in body_graph(text).nodes if n.op is not None)
    if inside & wish.names:
        return f"excluded: {', '.join(sorted(inside & wish.names))}"
    if {node.op.name, *node.op.aliases} & wish.operators:
        return f"excluded operator {node.op.name}"
    if "quantized" in node.attrs and node.parsed.quantized:
        return "quantized already"
    return rule.refusal(node.parsed)


def _reached(order, able, before):
    """The ids of nodes that one may come to from a must, over nodes that are able."""
    reached = set()
    for node in order:
        if id(node) in able:
            sources = (id(source) for source in before(node))
            if any(able.get(i) or i in reached for i in sources):
                reached.add(id(node))
    return reached


# --- the new graph -------------------------------------------------------------------------------


class _Quantizing:
    """The quantized graph as it grows along the float one."""

    def __init__(self, wish, chosen, answer):
        self._wish, self._chosen, self._answer = wish, chosen, answer
        self._floats = {}  # (id, index) of a float entry -> the new float entry
        self._numbers = {}  # the same -> (numbers, minimum, maximum): new entries
        self._variables = {}

    def visit(self, node):
        """Take over or quantize a node."""
        if id(node) in self._chosen:
            self._quantize(node)
            return
        inputs = [self.as_float(entry) for entry in node.inputs]
        copy = SymbolNode(node.op, node.name, node.attrs, inputs)
        for index in range(1 if node.op is None else len(node.outputs())):
            self._floats[id(node), index] = (copy, index)

    def as_float(self, entry):
        """The new float entry of an old one, dequantized where need be."""
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
        by_channel = self._wish.by_channel and rule.by_channel is not None
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
            self._answer.layers.append(output_name(node, 0))
        if rule.wide:
            quantized = self._requantized(quantized, f"requantize_{node.name}")
        if rule.by == _QUANTIZE:
            self._numbers[id(node), 0] = [(quantized, index) for index in range(3)]
            return
        for index in range(len(quantized.outputs())):  # floats, as recurrent layers give them
            self._floats[id(node), index] = (quantized, index)

    def _requantized(self, made, name):
        inputs = [(made, index) for index in range(3)]
        return SymbolNode(find(_REQUANTIZE), name, {"out_type": self._wish.dtype}, inputs)

    def _in_8_bits(self, reader, role, entry, by):
        """[numbers, minimum, maximum]: the new entries of an old one, quantized where need be."""
        source, index = entry
        key = (id(source), index) if by == _QUANTIZE else (id(source), index, by)
        if key in self._numbers:
            return self._numbers[key]
        name = output_name(source, index)
        if source.op is None and name in self._wish.parameters:
            ends = ("_quantize", "_quantize_min", "_quantize_max")
            entries = [(SymbolNode(None, name + end, {}), 0) for end in ends]
        else:
            attrs = {}
            if by == _QUANTIZE:
                parameter = role in ("weight", "bias")
                attrs["out_type"] = "int8" if parameter else self._wish.dtype
                self._answer.layers.append(name)
            if source.op is None and self._wish.after_readers:
                name = f"{reader.name}_{_SUMMANDS.get(role, role)}"
            node = SymbolNode(find(by), f"{name}_quantize", attrs, [self.as_float(entry)])
            entries = [(node, number) for number in range(3)]
        self._numbers[key] = entries
        return entries


def _attributes(node, op, rule, by_channel):
    """The attributes of a quantized node, as text: those that both operators have."""
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
    """Tell quantized nodes the ranges of what they quantize.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        A quantized graph; its nodes are changed.
    ranges : dict of str to (float, float)
        By the names of float outputs.

    Returns
    -------
    list of str
        The names of nodes that were to give uint8, where there are negative numbers.
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
            if any(fused):  # sums with numbers of both signs
                node.attrs["out_type"] = "int8"
        node.changed()
    return signed


def _calibrated_layer(node, users):
    """The name of the float output whose range a node of a quantized graph wants, or None."""
    if node.op is None or _CALIBRATION[0] not in node.op.schema.by_name:
        return None
    if any(user is not None and user.op is find(_REQUANTIZE) for user, *_ in users[id(node)]):
        return None  # that one has it
    for prefix in ("requantize_", "quantized_"):
        if node.name.startswith(prefix) and len(node.inputs) > 1:
            return f"{node.name.removeprefix(prefix)}_output"
    return output_name(*node.inputs[0])
