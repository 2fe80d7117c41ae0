"""The plan of a graph: a flat list of prepared calls on places, run by a front's `Plan`.

Places are tensors at an offset from a base. Base `ARENA` is a block of memory that lives for a run
(from forward to backward when training). The following bases are slots: first arrays kept between
runs because they are computed once from parameters, such as packed weights, then the arrays of
variables and of outputs.
"""

import struct

from mxcy._base.errors import MXNetError
from mxcy.graph.builder import Builder
from mxcy.graph.planning.memory import Memory, plan_memory
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare

__all__ = ["Plan", "Step", "make_plan", "prepare_all", "own_outputs"]
__all__ += ["ARENA", "FIXED", "ONCE", "Once"]

ARENA = 0
#: `extra` key of nodes that depend only on variables and run only after one was written. The value,
#: if not empty, identifies the computation better than the attributes.
ONCE = "__once__"
#: `extra` key of such a node whose variables are assumed never to change
FIXED = "__fixed__"
_DOUBLE = struct.Struct("=d")


class Step:
    """One call of a plan.

    Attributes
    ----------
    call : mxcy.ops.core.prepare.Call
    name : str
        The node's name, for messages.
    ins, outs : tuple of int
        Indices of places.
    kept : object
        State of custom operators between runs; None for other operators.
    """

    __slots__ = ("call", "name", "ins", "outs", "kept")

    def __init__(self, call, name, ins, outs):
        self.call, self.name, self.ins, self.outs = call, name, ins, outs
        self.kept = None


class Once:
    """A step that runs only after a variable it depends on was written.

    Attributes
    ----------
    slots : tuple of int
        Slots of those variables.
    kept : tuple of int
        Indices of the kept arrays it computes.
    reads : tuple of int
        Indices of the intermediate ones it reads.
    recipe : tuple
        Identifies the computation independently of numbering: equal recipes on equal arrays give
        equal results, which plans may share.
    fixed : bool
        Whether it runs only for other arrays, not after one was written.
    """

    __slots__ = ("slots", "kept", "reads", "recipe", "fixed")

    def __init__(self, slots, recipe, fixed=False):
        self.slots, self.recipe, self.fixed = slots, recipe, fixed
        self.kept = self.reads = ()


class Plan:
    """Everything a front needs to run a graph.

    Attributes
    ----------
    places : list of (int, int, Spec)
        Base, byte offset, shape and dtype.
    steps : list of Step
        Steps that run once, then the forward pass, then the backward pass.
    once : list of Once
        Descriptions of the leading steps.
    forward : int
        Index of the first step of the backward pass.
    arena : int
        Size of the arena in bytes.
    kept : list of Spec
        Specs of the arrays kept between runs, whose bases follow the arena's.
    intermediate : set of int
        Indices of kept arrays that are only read by other steps of `once`.
    variables : list of str
        Names of the variables, in the order of the slots.
    outputs : list of Spec
        Specs of the output slots, which follow.
    written : list of int
        Slots of the variables that the plan writes.
    memory : mxcy.graph.planning.memory.Memory
    """

    places: list
    steps: list
    once: list
    forward: int
    arena: int
    kept: list
    intermediate: set
    variables: list
    outputs: list
    written: list
    memory: Memory


def own_outputs(graph):
    """Ensure that each output is computed by a separate operator, inserting copies.

    In a graph with a backward pass, the copies belong to that pass: call this for a forward graph
    before differentiation.
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
    prediction = graph.forward == len(graph.nodes)
    return builder.finish(outputs, None if prediction else graph.forward)


def make_plan(graph, target):
    """Plan a graph with specs that `own_outputs` returned.

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
        self.numbers = {}  # entry -> index of its place
        self.places = []

    def make(self):
        graph, plan = self.graph, self.plan
        variables = graph.variables()
        plan.variables = [graph.nodes[number].name for number in variables]
        plan.outputs = [graph.spec(entry) for entry in graph.outputs]
        slot = {number: position for position, number in enumerate(variables)}
        once = _once_nodes(graph, slot)
        plan.kept = self.place_kept(once)
        plan.intermediate = self.find_intermediate(once)
        first = ARENA + 1 + len(plan.kept)
        for number, position in slot.items():
            self.place((number, 0), first + position, 0)
        for position, entry in enumerate(graph.outputs):
            self.place(entry, first + len(variables) + position, 0)
        if self.target.settings.get("MXNET_EXEC_ENABLE_INPLACE", True):
            self.place_behind_outputs()
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
        """Assign a place to an entry, unless it has one."""
        if entry not in self.numbers:
            self.numbers[entry] = len(self.places)
            self.places.append((base, offset, self.graph.spec(entry)))

    def place_behind_outputs(self):
        """Have what an identity passes on to an output, e.g. Reshape, computed in its memory.

        The backward pass must not read it, as the program may modify outputs in between.
        """
        graph = self.graph
        avoided = {entry for node in graph.nodes for entry in node.mutates()}
        avoided.update(entry for node in graph.nodes[graph.forward :] for entry in node.inputs)
        for output in graph.outputs:
            entry, node = output, graph.nodes[output[0]]
            while node.op is not None and node.op.identity and node.count == 1:
                source = node.inputs[0]
                node = graph.nodes[source[0]]
                if node.op is None or source in self.numbers or {entry, source} & avoided:
                    break
                if graph.spec(source).nbytes != graph.spec(entry).nbytes:
                    break
                self.place(source, *self.where(entry))
                entry = source

    def place_kept(self, once):
        """Place the results of steps that run once; return their Specs."""
        kept = []
        for number in sorted(once):
            specs = self.graph.specs[number]
            once[number].kept = tuple(range(len(kept), len(kept) + len(specs)))
            for index, spec in enumerate(specs):
                kept.append(spec)
                self.place((number, index), ARENA + len(kept), 0)
        return kept

    def find_intermediate(self, once):
        """Find the kept arrays that only steps of `once` read, and set the steps' `reads`."""
        place = {(n, i): kept for n, o in once.items() for i, kept in enumerate(o.kept)}
        read = {entry for number in once for entry in self.graph.nodes[number].inputs}
        elsewhere = set(self.graph.outputs)
        for number, node in enumerate(self.graph.nodes):
            if number not in once:
                elsewhere.update(node.inputs)
        intermediate = {entry for entry in place if entry in read and entry not in elsewhere}
        for number in once:
            inputs = self.graph.nodes[number].inputs
            once[number].reads = tuple({place[entry] for entry in inputs if entry in intermediate})
        return {place[entry] for entry in intermediate}

    def is_idle(self, number):
        """Whether a node only passes on its inputs' memory."""
        node = self.graph.nodes[number]
        return number in self.plan.memory.idle or (
            node.op.identity
            and node.count == 1
            and self.where((number, 0)) == self.where(node.inputs[0])
        )

    def where(self, entry):
        """The base and offset of an entry."""
        return self.places[self.numbers[entry]][:2]

    def step(self, number):
        """Make the step of a node."""
        node = self.graph.nodes[number]
        ins = tuple(self.numbers[entry] for entry in node.inputs)
        outs = tuple(self.numbers[number, index] for index in range(node.count))
        return Step(self.calls[number], node.name, ins, outs)


def prepare_all(graph, target):
    """Prepare the call of each node (None for variables); equal nodes share one."""
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
    """Write dynamic attributes, which are constant in a plan, into the parameters."""
    if call.patches:
        params = bytearray(call.params)
        numbers = call.op.schema.numbers_of(call.attrs)
        for index, offset in call.patches:
            params[offset : offset + 8] = _DOUBLE.pack(numbers[index])
        call.params, call.patches = bytes(params), ()


def _once_nodes(graph, slot):
    """Make {number of a node that runs once: its Once, without arrays}."""
    once: dict = {}
    for number, node in enumerate(graph.nodes):
        if ONCE not in node.extra or not all(s in slot or s in once for s, _ in node.inputs):
            continue
        slots, ingredients = [], []
        for source, index in node.inputs:
            if source in slot:
                behind, recipe = (slot[source],), ()
            else:
                behind, recipe = once[source].slots, once[source].recipe
            slots += [s for s in behind if s not in slots]
            ingredients.append((index, recipe, tuple(slots.index(s) for s in behind)))
        what = (node.op.name, node.extra[ONCE]) if node.extra[ONCE] else node.signature
        once[number] = Once(tuple(slots), (what, tuple(ingredients)), FIXED in node.extra)
    return once
