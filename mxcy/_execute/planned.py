"""Planned graphs: a `Graph` after the passes, as a plan of the front that runs on arrays."""

import itertools
import sys

from mxcy import env
from mxcy._base.dtypes import CODES
from mxcy._execute import trials
from mxcy._execute.constants import Constants
from mxcy._execute.overlap import overlap
from mxcy._library import front
from mxcy.gpu.devices import is_device
from mxcy.gpu.graphs import recorder
from mxcy.gpu.library import DeviceLibrary
from mxcy.graph.gradient import gradient
from mxcy.graph.graph import Graph
from mxcy.graph.optimize import optimize
from mxcy.graph.passes import attention, depthwise, norms
from mxcy.graph.planning.plan import make_plan, own_outputs
from mxcy.graph.planning.report import describe, list_memory, list_steps, summary
from mxcy.graph.planning.segments import segments
from mxcy.graph.target import Target

__all__ = ["Planned", "target", "training_graph"]

_OCTET = CODES["uint8"]


def target(context=None):
    """The `Target` of this process with the current settings.

    Parameters
    ----------
    context : Context, optional
        The context that runs the graph; devices with separate memory have their own kernels.
    """
    settings = {name: env.get(name) for name in env.PLANNING}
    # More parallel paths than workers only cost memory.
    workers = env.get("MXNET_CPU_WORKER_NTHREADS")
    settings["MXNET_EXEC_NUM_TEMP"] = min(settings["MXNET_EXEC_NUM_TEMP"], workers)
    if context is not None and is_device(context):
        own = DeviceLibrary(context.device_id)
        return Target(
            own.has_kernel, own.query, _measure_alone, 0, settings, trials.memory(), own.lower
        )
    return Target(
        front.has_kernel,
        front.query,
        _measure_alone,
        front.block(),
        settings,
        trials.memory(),
        threads=env.omp_threads(),
    )


def _measure_alone(*call):
    """Call `front.measure` while no other operation runs."""
    front.settle_all()
    return front.measure(*call)


def training_graph(graph, wrt, has_head_grad=None, trace=None, context=None):
    """Build the graph of forward and backward pass; see `mxcy.graph.gradient.gradient`.

    Parameters
    ----------
    graph : Graph
        A graph with specs, in training or prediction mode.
    wrt : list of str
        Names of the variables whose gradients are appended to the outputs.
    has_head_grad : list of bool, optional
        Which outputs' gradients are inputs.
    trace : list, optional
        Collects the gradient entries of all operators.
    context : Context, optional
        The context that will run the graph.
    """
    graph = own_outputs(graph)
    if trace is None and env.get("MXNET_USE_FUSION"):
        machine = target(context)
        graph = norms.run(attention.run(graph, machine, wrt))
        graph = depthwise.run(graph, wrt, machine.has_kernel)
    number = {graph.nodes[i].name: i for i in graph.variables()}
    cap = env.get("MXNET_EXEC_INPLACE_GRAD_SUM_CAP")
    return gradient(graph, [number[name] for name in wrt], has_head_grad, cap, trace=trace)


class Planned:
    """An executable graph.

    Parameters
    ----------
    graph : Graph
        A graph with specs; `training_graph` adds a backward pass.
    context : Context
    optimized : bool
        Whether to run the passes; otherwise there is one step per node.
    """

    def __init__(self, graph, context, optimized=True):
        self.machine = machine = target(context)
        self._training = training = graph.forward < len(graph.nodes)
        if optimized:
            graph = optimize(graph, machine, training)
        else:  # results in the memory of others would have no step
            machine.settings["MXNET_EXEC_ENABLE_INPLACE"] = False
        self.graph: Graph = own_outputs(graph)
        self.context = context
        self.plan = make_plan(self.graph, machine)
        if "passes" in machine.settings["MXCY_VERBOSE"]:
            print(f"mxcy {summary(self.describe())}", flush=True)
        if env.get("MXNET_EXEC_VERBOSE_LOGGING"):
            print(*list_steps(self.plan), sep="\n", file=sys.stderr, flush=True)
        if env.get("MXNET_MEM_PLAN_VERBOSE_LOGGING"):
            print(*list_memory(self.graph, self.plan), sep="\n", file=sys.stderr, flush=True)
        trials.save()
        graphs = None
        if is_device(context):
            graphs = recorder(self.plan, context.device_id, training)
        self._native = front.Plan(self.plan, graphs)
        self._forward, self._in_pieces = segments(self.plan, machine.settings, training)
        whole = {**machine.settings, "MXCY_DIST_OVERLAP": False}
        self._backward = segments(self.plan, whole, training)[1]
        self._constants = Constants(self.plan, context)

    def describe(self):
        """Memory, in-place results, segments, fused and recomputed operators, as a dict.

        See `mxcy.graph.planning.report.describe`.
        """
        return describe(self.graph, self.plan, self.machine.settings, self._training)

    @property
    def variables(self):
        """The variables' names, in the order of a run's arrays."""
        return self.plan.variables

    @property
    def outputs(self):
        """The Specs of the outputs."""
        return self.plan.outputs

    def new_arena(self):
        """Allocate the memory of a run."""
        return front.empty((self._native.arena,), _OCTET, self.context)

    def new_outputs(self, count=None):
        """Allocate arrays for the first `count` outputs, by default all."""
        return [self._new(spec) for spec in self.plan.outputs[:count]]

    def new_gradients(self, first, targets=()):
        """Allocate arrays for the outputs from `first` on.

        Parameters
        ----------
        first : int
        targets : sequence of (NDArray or None), optional
            Arrays to use instead of new ones.
        """
        specs = self.plan.outputs[first:]
        return [
            self._new(spec) if target is None else target
            for spec, target in itertools.zip_longest(specs, targets)
        ]

    def _new(self, spec):
        return front.empty(tuple(spec.shape), spec.dtype, self.context)

    def forward(self, arrays, arena):
        """Run the forward pass; each segment is one engine operation.

        Parameters
        ----------
        arrays : list of NDArray
            One per variable, then one per output; outputs of the backward pass may be missing or
            None.
        arena : NDArray
            Memory from `new_arena`, which the backward pass needs unchanged.
        """
        plan = self.plan
        if plan.once:
            self._renew(arena, arrays)
        self._run(self._forward, arena, arrays)

    def backward(self, arrays, arena):
        """Run the backward pass on the arrays and arena of the forward pass."""
        self._run(self._in_pieces if overlap.in_use else self._backward, arena, arrays)

    def _run(self, pieces, arena, arrays):
        bases = front.Bases(arena, self._constants.kept, arrays)
        for first, last in pieces:
            self._native.run(first, last + 1, bases, self.context)
        self._touch(arrays)

    def _renew(self, arena, arrays):
        """Run the outdated ones of the steps that run once."""

        def run(number):
            bases = front.Bases(arena, front.Kept(self._constants.arrays), arrays)
            self._native.run(number, number + 1, bases, self.context)

        self._constants.refresh(arrays, run)

    def _touch(self, arrays):
        for slot in self.plan.written:
            arrays[slot].touch()

    def step_by_step(self, arrays, arena, visit):
        """Run the forward pass and call ``visit(step, inputs, outputs)`` after each step.

        Steps that run only after a variable was written are not visited.
        """
        plan = self.plan
        self._renew(arena, arrays)
        bases = front.Bases(arena, self._constants.kept, arrays)
        for number in range(len(plan.once), plan.forward):
            self._native.run(number, number + 1, bases, self.context)
            step = plan.steps[number]
            ins, outs = (
                [self._native.array(place, bases) for place in places]
                for places in (step.ins, step.outs)
            )
            visit(step, ins, outs)
        self._touch(arrays)
