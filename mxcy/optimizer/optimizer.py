"""Base class and registry of optimizers."""

import re
import sys

import numpy as np

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base import older_paths
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn
from mxcy.optimizer.defaults import (
    arguments_of,
    clips_before_decay,
    has_steps,
    puts_all_masters_first,
    with_defaults,
)
from mxcy.optimizer.rates import Rates
from mxcy.optimizer.states import zeros_like

__all__ = ["Optimizer", "Test", "create", "register"]

__getattr__ = older_paths.offer(__name__, "mxcy.optimizer")


_OWN = re.compile(r"mxcy\.optimizer\b")


class Optimizer(Rates):
    """Base class of optimizers, which update weights with their gradients.

    A subclass defines its update in one of three ways:

    * `update(index, weight, grad, state)` for one weight (MXNet 1.x),
    * `step(indices, weights, grads, states)` for several (MXNet 2.x), with an optional faster
      `fused_step` based on operators; `use_fused_step` chooses between them,
    * `_apply(weight, grad, state, lr, wd, count)`, the arithmetic only; this class then counts
      updates and looks up rate and decay. If one operator call can update many weights,
      `_apply_many` takes lists of the same, of at most `_most_together` weights.

    Parameters
    ----------
    rescale_grad : float
        Factor of the gradients, often ``1 / batch_size``.
    param_idx2name : dict of int to str, optional
        Names of the weights by index.
    wd : float
        Weight decay (L2 penalty).
    clip_gradient : float, optional
        Gradients are clipped to ``[-clip_gradient, clip_gradient]``.
    learning_rate : float, optional
        Learning rate, 0.01 by default.
    lr_scheduler : LRScheduler, optional
        Computes the learning rate from the number of updates.
    sym : Symbol, optional
        Symbol whose attributes ``__lr_mult__`` and ``__wd_mult__`` set multipliers of weights.
    begin_num_update : int
        Initial count of updates.
    multi_precision : bool
        Keep a float32 copy of float16 weights and update that.
    param_dict : dict of int to Parameter, optional
        Parameters that provide `lr_mult` and `wd_mult`.
    aggregate_num : int, optional
        Maximum number of weights updated in one call; defaults to
        MXNET_OPTIMIZER_AGGREGATION_SIZE, for optimizers with a multi-weight operator. If
        neither is set, SGD, NAG, Adam and AdamW update all weights of a step in one call.
    use_fused_step : bool, optional
        Call `fused_step` rather than `step`, for subclasses that define both. Built-in
        optimizers ignore it and use the fastest implementation.
    """

    opt_registry = {}
    #: maximum number of weights per call of its operator; 0: no multi-weight operator
    _most_together = 0
    #: whether the update is elementwise, so that processes can update parts of a weight; not
    #: inherited: subclasses must set it themselves
    elementwise = False
    #: whether `multi_precision` states are (float32 weight, state) rather than the reverse, in
    #: MXNet 1.x
    _master_first = True
    #: renamed attributes: MXNet 2.x name -> name here
    _names_of_mxnet_2 = {}
    #: parameters and defaults in MXNet 2.x, where they differ from `__init__`
    _in_mxnet_2 = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "_in_mxnet_2" in own:
            cls.__init__ = with_defaults(cls.__init__, cls._in_mxnet_2, cls._names_of_mxnet_2)
        if "update" in own:
            cls._update_some = own["update"]
        elif "step" in own or "fused_step" in own:  # overrides the base class's choice
            cls.update = Optimizer.update
            cls.update_multi_precision = Optimizer.update_multi_precision

    def __init__(
        self,
        rescale_grad=1.0,
        param_idx2name=None,
        wd=0.0,
        clip_gradient=None,
        learning_rate=None,
        lr_scheduler=None,
        sym=None,
        begin_num_update=0,
        multi_precision=False,
        param_dict=None,
        aggregate_num=None,
        use_fused_step=None,
    ):
        super().__init__(
            learning_rate, lr_scheduler, wd, begin_num_update, param_idx2name, sym, param_dict
        )
        self.rescale_grad = rescale_grad
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = self._aggregation(aggregate_num)
        #: whether `aggregate_num` was requested; otherwise a step may combine more weights
        self.aggregates_as_asked = aggregate_num is not None or env.is_set(
            "MXNET_OPTIMIZER_AGGREGATION_SIZE"
        )
        if use_fused_step is None:  # as in MXNet 2, whose optimizers have operators
            use_fused_step = any(_OWN.match(k.__module__) for k in _subclasses(type(self)))
        self.use_fused_step = use_fused_step

    def _aggregation(self, asked):
        """Number of weights per update call: the argument, or else the environment variable."""
        most = self._most_together
        if asked is not None or not most:
            return int(min(asked or 0, most or sys.maxsize))
        size = env.get("MXNET_OPTIMIZER_AGGREGATION_SIZE")
        if size > most:
            warn(
                f"MXNET_OPTIMIZER_AGGREGATION_SIZE={size}: {type(self).__name__} updates at most "
                f"{most} weights together"
            )
        return min(size, most)

    # -- registry ---------------------------------------------------------------------------------

    @staticmethod
    def register(klass):
        """Register an optimizer class, for `create_optimizer`.

        Parameters
        ----------
        klass : type
            The class; its lower-case name is the key.

        Returns
        -------
        type
            The same class.
        """
        assert isinstance(klass, type), "only classes can be registered"
        name = klass.__name__.lower()
        if Optimizer.opt_registry.get(name, klass) is not klass:
            known = Optimizer.opt_registry[name]
            warn(
                f"New optimizer {klass.__module__}.{klass.__name__} is overriding existing "
                f"optimizer {known.__module__}.{known.__name__}"
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name, **kwargs):
        """Create an optimizer by its name.

        Parameters
        ----------
        name : str
            Name of a registered class, case-insensitive.
        **kwargs
            Arguments of the class.

        Returns
        -------
        Optimizer

        Raises
        ------
        ValueError
            If no optimizer has that name.
        """
        if name.lower() not in Optimizer.opt_registry:
            hint = did_you_mean(name, Optimizer.opt_registry)
            raise ValueError(f"Cannot find optimizer {name}{hint}")
        kind = Optimizer.opt_registry[name.lower()]
        try:
            return kind(**kwargs)
        except TypeError as error:
            if "unexpected keyword argument" not in str(error):
                raise
            known = arguments_of(kind)
            wrong = next((argument for argument in kwargs if argument not in known), None)
            if wrong is None:
                raise
            hint = did_you_mean(wrong, known) or f"; there are {', '.join(known)}"
            raise TypeError(f"optimizer {name} has no argument {wrong!r}{hint}") from None

    # -- the update -------------------------------------------------------------------------------

    def create_state(self, index, weight):
        """Create the state of a weight, e.g. its momentum.

        Parameters
        ----------
        index : int
            Index of the weight.
        weight : NDArray
            The weight.

        Returns
        -------
        None, NDArray or tuple
        """
        return None

    def create_state_multi_precision(self, index, weight):
        """Create the state of a weight, with a float32 copy of it under `multi_precision`.

        Parameters
        ----------
        index : int
            Index of the weight.
        weight : NDArray
            The weight.

        Returns
        -------
        None, NDArray or tuple
            ``(float32 weight, state)`` for a float16 weight under `multi_precision`, in reverse
            order for SGD, NAG and LARS outside the profile of MXNet 2; otherwise the result of
            `create_state`.
        """
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                pair = (master, self.create_state(index, master))
                return pair if self._puts_master_first() else pair[::-1]
            self._warn_about_float16()
        return self.create_state(index, weight)

    def _warn_about_float16(self):
        warn(
            "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
            f"Consider using multi_precision=True option of the {type(self).__name__} optimizer"
        )

    def update(self, index, weight, grad, state):
        """Update one weight, or several of the same dtype.

        Parameters
        ----------
        index : int or list of int
            Index of the weight.
        weight : NDArray or list of NDArray
            Updated in place.
        grad : NDArray or list of NDArray
            Its gradient.
        state : any or list
            Result of `create_state`, updated in place.
        """
        kind = type(self)
        if kind.step is Optimizer.step and kind.fused_step is Optimizer.fused_step:
            self._update_some(index, weight, grad, state)
        elif self.use_fused_step and kind.fused_step is not Optimizer.fused_step:
            self.fused_step(*_as_lists(index, weight, grad, state))
        else:
            self.step(*_as_lists(index, weight, grad, state))

    def _update_some(self, index, weight, grad, state):
        """The default `update`, for subclasses that define neither `step` nor `update`."""
        if self._most_together:
            index, *arrays = _as_lists(index, weight, grad, state)
            self._update_count(index)
            counts = [self._index_update_count[i] for i in index]
            self._apply_many(*arrays, self._get_lrs(index), self._get_wds(index), counts)
            return
        if isinstance(index, (list, tuple)):
            for arguments in zip(index, weight, grad, state, strict=True):
                self._update_some(*arguments)
            return
        self._update_count(index)
        self._apply(
            weight,
            grad,
            state,
            self._get_lr(index),
            self._get_wd(index),
            self._index_update_count[index],
        )

    def step(self, indices, weights, grads, states):
        """Update several weights, see `update`.

        Parameters
        ----------
        indices : list of int
            Indices of the weights.
        weights, grads : list of NDArray
            The weights, updated in place, and their gradients.
        states : list
            Result of `create_state`, updated in place.
        """
        for arguments in zip(indices, weights, grads, states, strict=True):
            self._update_some(*arguments)

    def fused_step(self, indices, weights, grads, states):
        """Update several weights, with operators if possible; see `step`."""
        self.step(indices, weights, grads, states)

    def _apply(self, weight, grad, state, lr, wd, count):
        """Update one weight; `count` is the number of its updates including this one."""
        raise NotImplementedError(f"{type(self).__name__} does not define update, step or _apply")

    def _apply_many(self, weights, grads, states, lrs, wds, counts):
        """Update several weights; like `_apply`, with lists."""
        for arguments in zip(weights, grads, states, lrs, wds, counts, strict=True):
            self._apply(*arguments)

    def _whole_step(self, indices, states):
        """Count an update and return its `WholeStep` for this number of states, or None."""
        return None

    def update_multi_precision(self, index, weight, grad, state):
        """Update one or several weights, through their float32 copies if they have them.

        Parameters
        ----------
        index, weight, grad, state
            See `update`; the state comes from `create_state_multi_precision`.
        """
        if isinstance(index, (list, tuple)) and self._has_master(weight[0]):
            masters, inner = map(list, zip(*map(self._master_and_state, state), strict=True))
            self.update(index, masters, [g.astype(np.float32) for g in grad], inner)
            for array, master in zip(weight, masters, strict=True):
                array[:] = master.astype(array.dtype)
        elif not isinstance(index, (list, tuple)) and self._has_master(weight):
            master, inner = self._master_and_state(state)
            self.update(index, master, grad.astype(np.float32), inner)
            weight[:] = master.astype(weight.dtype)
        else:
            self.update(index, weight, grad, state)

    def _master_and_state(self, state):
        return state if self._puts_master_first() else state[::-1]

    def _puts_master_first(self):
        return self._master_first or puts_all_masters_first()

    def _has_master(self, weight):
        return self.multi_precision and weight.dtype == np.float16

    def _rescaled(self, grad):
        """The gradient multiplied by `rescale_grad`, then clipped."""
        return self._clipped(grad * self.rescale_grad)

    def _clipped(self, grad):
        if self.clip_gradient is None:
            return grad
        return nd.clip(grad, -self.clip_gradient, self.clip_gradient)

    def _decayed(self, grad, weight, wd):
        """The gradient rescaled, clipped and with weight decay, in the order of the profile."""
        if clips_before_decay():
            return self._rescaled(grad) + wd * weight
        return self._clipped(grad * self.rescale_grad + wd * weight)

    def _decays_after_clipping(self, wd):
        """Whether `_decayed` must replace the operator's arithmetic, which clips last."""
        return bool(wd and self.clip_gradient) and clips_before_decay()

    def _operator_arguments(self):
        """The arguments that all update operators share."""
        arguments = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            arguments["clip_gradient"] = self.clip_gradient
        return arguments

    # -- pickling, without the blocks' parameters -------------------------------------------------

    def __getstate__(self):
        left = ("param_dict", "aggregates_as_asked")  # not in MXNet's files
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name_there, name_here in self._names_of_mxnet_2.items():
            if name_there in state:
                self.__dict__.setdefault(name_here, state[name_there])
        self.param_dict = {}
        # missing in states of MXNet 1.x
        self.__dict__.setdefault("use_fused_step", True)
        self.__dict__.setdefault("aggregates_as_asked", False)


def _as_lists(index, weight, grad, state):
    if isinstance(index, (list, tuple)):
        return index, weight, grad, state
    return [index], [weight], [grad], [state]


def _subclasses(cls):
    """A class and its bases that are subclasses of `Optimizer`."""
    return cls.__mro__[: cls.__mro__.index(Optimizer)]


register = Optimizer.register
create = Optimizer.create_optimizer


@register
class Test(Optimizer):
    """Add the rescaled gradient to the weight; for tests.

    Under the profile of MXNet 2 it subtracts ``lr * (rescale_grad * grad + wd * weight)``.
    """

    def create_state(self, index, weight):
        return zeros_like(weight)

    def update(self, index, weight, grad, state):
        if not has_steps():
            weight += grad * self.rescale_grad
            state[:] = weight
            return
        for i, w, g, _ in zip(*_as_lists(index, weight, grad, state), strict=True):
            self._update_count(i)
            w -= self._get_lr(i) * (g * self.rescale_grad + self._get_wd(i) * w)
