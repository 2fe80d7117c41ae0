"""The plan of a graph: a flat list of prepared calls on places, which a front's `Plan` then runs.

Places are tensors at an offset from a base. Base `ARENA` is one block of memory that lives for a
run (from forward to backward when training), base `STORE` one that lives as long as the plan: it
keeps what is computed once from parameters, such as packed weights. Further bases are the slots:
the arrays of variables, then those of outputs.
"""

import struct

from mxcy.base import MXNetError
from mxcy.graph.builder import Builder
from mxcy.graph.memory import Memory, plan_memory
from mxcy.ops.infer import Spec
from mxcy.ops.prepare import prepare

__all__ = ["Plan", "Step", "make_plan", "prepare_all", "own_outputs"]
__all__ += ["ARENA", "STORE", "SLOTS", "ONCE"]

ARENA, STORE, SLOTS = 0, 1, 2
#: the `extra` key of nodes that run only when a variable they depend on was written
ONCE = "__once__"
_LINE = 64
_DOUBLE = struct.Struct("=d")


class Step:
    """One call of a plan.

    Attributes
    ----------
    call : mxcy.ops.prepare.Call
    name : str
        The node's name, for messages.
    ins, outs : tuple of int
        Numbers of places.
    """

    __slots__ = ("call", "name", "ins", "outs")

    def __init__(self, call, name, ins, outs):
        self.call, self.name, self.ins, self.outs = call, name, ins, outs


class Plan:
    """What a front needs to run a graph.

    Attributes
    ----------
    places : list of (int, int, Spec)
        Base, byte offset, shape and dtype.
    steps : list of Step
        First those that run once, then the forward pass, then the backward pass.
    once : list of tuple of int
        For each of the first steps, the variables' slots on which it depends.
    forward : int
        Number of the first step of the backward pass.
    arena, store : int
        Bytes.
    variables : list of str
        Their names, in the order of the slots.
    outputs : list of Spec
        Of the output slots, which follow.
    written : list of int
        The variables' slots that the plan writes.
    memory : mxcy.graph.memory.Memory
    """

    places: list
    steps: list
    once: list
    forward: int
    arena: int
    store: int
    variables: list
    outputs: list
    written: list
    memory: Memory


def own_outputs(graph):
    """The graph with every output made by an operator of its own, by copies where necessary.

    In a graph with a backward pass, the copies belong to that: make a forward pass' outputs own
    before the gradient is taken.
    """
    seen, wanting = set(), []
    for position, entry in enumerate(graph.outputs):
        if graph.nodes[entry[0]].op is None or entry in seen:
            wanting.append(position)
        seen.add(entry)
    if not wanting:
        return graph
    builder = Builder()
    builder.copy(graph)
    outputs = list(graph.outputs)
    for position in wanting:
        outputs[position] = builder.add("_copy", {}, [outputs[position]])
    whole = graph.forward == len(graph.nodes)
    return builder.finish(outputs, None if whole else graph.forward)


def make_plan(graph, target):
    """Plan a graph with specs whose outputs are its operators' own.

    Parameters
    ----------
    graph : Graph
    target : Target

    Returns
    -------
    Plan
    """
    maker = _Maker(graph, target)
    return maker.make()


class _Maker:
    """The state of `make_plan`."""

    def __init__(self, graph, target):
        self.graph, self.target = graph, target
        self.calls = prepare_all(graph, target)
        self.plan = Plan()
        self.numbers = {}  # entry -> number of its place
        self.places = []

    def make(self):
        graph, plan = self.graph, self.plan
        variables = graph.variables()
        plan.variables = [graph.nodes[number].name for number in variables]
        plan.outputs = [graph.spec(entry) for entry in graph.outputs]
        slot = {number: position for position, number in enumerate(variables)}
        for number, position in slot.items():
            self.place((number, 0), SLOTS + position, 0)
        for position, entry in enumerate(graph.outputs):
            self.place(entry, SLOTS + len(variables) + position, 0)
        once = _once_nodes(graph, slot)
        plan.store = self.put_in_store(once)
        plan.memory = plan_memory(graph, self.calls, set(self.numbers), self.target.settings)
        plan.arena = plan.memory.total
        for entry, offset in plan.memory.offsets.items():
            self.place(entry, ARENA, offset)
        for entry, variable in plan.memory.aliases.items():
            self.place(entry, *self.where(variable))
        plan.places = self.places
        plan.once = [once[number] for number in sorted(once)]
        order = [n for n, node in enumerate(graph.nodes) if node.op is not None and n not in once]
        order = [n for n in order if not self.is_idle(n)]
        plan.steps = [self.step(number) for number in [*sorted(once), *order]]
        plan.forward = len(once) + sum(number < graph.forward for number in order)
        plan.written = sorted(
            {slot[entry[0]] for node in graph.nodes for entry in node.mutates() if entry[0] in slot}
        )
        return plan

    def place(self, entry, base, offset):
        """Give an entry its place, unless it has one."""
        if entry not in self.numbers:
            self.numbers[entry] = len(self.places)
            self.places.append((base, offset, self.graph.spec(entry)))

    def put_in_store(self, once):
        """Place what is computed once; returns the bytes."""
        total = 0
        for number in sorted(once):
            for index, spec in enumerate(self.graph.specs[number]):
                self.place((number, index), STORE, total)
                total += -(-spec.nbytes // _LINE) * _LINE
        return total

    def is_idle(self, number):
        """Whether a node only hands on its input's memory."""
        node = self.graph.nodes[number]
        return (
            node.op.identity
            and node.count == 1
            and self.where((number, 0)) == self.where(node.inputs[0])
        )

    def where(self, entry):
        """Base and offset of an entry."""
        return self.places[self.numbers[entry]][:2]

    def step(self, number):
        """The step of a node."""
        node = self.graph.nodes[number]
        ins = tuple(self.numbers[entry] for entry in node.inputs)
        outs = tuple(self.numbers[number, index] for index in range(node.count))
        return Step(self.calls[number], node.name, ins, outs)


def prepare_all(graph, target):
    """The prepared call of each node (None for variables); equal nodes share one."""
    cache: dict = {}
    calls: list = []
    for node in graph.nodes:
        if node.op is None:
            calls.append(None)
            continue
        ins = [graph.spec(entry) for entry in node.inputs]
        key = (node.signature, tuple((s.shape, s.dtype) for s in ins))
        call = cache.get(key)
        if call is None:
            copies = [Spec(s.shape, s.dtype) for s in ins]
            try:
                call = prepare(node.op, node.attrs, copies, target)
            except MXNetError as error:
                raise MXNetError(f"node {node.name}: {error}") from None
            _fix_numbers(call)
            cache[key] = call
        calls.append(call)
    return calls


def _fix_numbers(call):
    """Write the dynamic attributes, which do not change in a plan, into the parameters."""
    if call.patches:
        params = bytearray(call.params)
        names = call.op.schema.dynamic_names
        for index, offset in call.patches:
            value = getattr(call.attrs, names[index])
            params[offset : offset + 8] = _DOUBLE.pack(value)
        call.params, call.patches = bytes(params), ()


def _once_nodes(graph, slot):
    """{number of a node that runs once: the slots of the variables it depends on}."""
    found: dict = {}
    for number, node in enumerate(graph.nodes):
        if ONCE not in node.extra:
            continue
        slots = set()
        for source, _ in node.inputs:
            if source in slot:
                slots.add(slot[source])
            elif source in found:
                slots.update(found[source])
            else:
                raise MXNetError(f"node {node.name} is to run once, but depends on other nodes")
        found[number] = tuple(sorted(slots))
    return found
