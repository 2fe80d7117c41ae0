"""The base of all optimizers: how they are made, and how weights are visited."""

import re
import sys

import numpy as np

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base import older_paths
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn
from mxcy.optimizer.defaults import arguments_of, with_defaults
from mxcy.optimizer.rates import Rates
from mxcy.optimizer.states import zeros_like

__all__ = ["Optimizer", "Test", "create", "register"]

__getattr__ = older_paths.offer(__name__, "mxcy.optimizer")


_OWN = re.compile(r"mxcy\.optimizer\b")


class Optimizer(Rates):
    """Changes weights by their gradients; keeps the rate and the decay of every weight.

    A subclass has three ways to say what it does:

    * `update(index, weight, grad, state)` for one weight (MXNet 1.x),
    * `step(indices, weights, grads, states)` for several (MXNet 2.x), with `fused_step` beside it
      where operators do the same faster; `use_fused_step` chooses,
    * `_apply(weight, grad, state, lr, wd, count)`, the bare arithmetic; counting and the look-up of
      rate and decay are then done here. Where an operator changes many weights in one call,
      `_apply_many` takes lists of the same; `_most_together` says of how many.

    Parameters
    ----------
    rescale_grad : float
        Every gradient is multiplied by this, often ``1 / batch_size``.
    param_idx2name : dict of int to str, optional
        Names of the weights by index.
    wd : float
        Weight decay (L2 penalty).
    clip_gradient : float, optional
        Gradients are clipped to ``[-clip_gradient, clip_gradient]``.
    learning_rate : float, optional
        The rate, 0.01 by default.
    lr_scheduler : LRScheduler, optional
        Computes the rate from the number of updates.
    sym : Symbol, optional
        Its attributes ``__lr_mult__`` and ``__wd_mult__`` set multipliers of single weights.
    begin_num_update : int
        Where the count of updates starts.
    multi_precision : bool
        Keep a float32 copy of float16 weights and update that.
    param_dict : dict of int to Parameter, optional
        Parameters whose `lr_mult` and `wd_mult` are used.
    aggregate_num : int, optional
        Largest number of weights that one call may update together; by default as many as
        MXNET_OPTIMIZER_AGGREGATION_SIZE says, for optimizers that have an operator for several. If
        neither is given, SGD, NAG, Adam and AdamW change all weights of a step in one call.
    use_fused_step : bool, optional
        Which of `step` and `fused_step` is called, for subclasses that define both. Optimizers of
        ours always take the fastest way.
    """

    opt_registry = {}
    #: the most weights that one call of its operator can change; 0: there is none for several
    _most_together = 0
    #: whether each element changes by its own gradient and states alone, so that several processes
    #: may update a part of a weight each; it does not hold for subclasses that do not say so again
    elementwise = False
    #: whether states under `multi_precision` are (float32 weight, state), not the other way round
    _master_first = True
    #: attributes that are called otherwise in MXNet 2.x: name there -> name here
    _names_of_mxnet_2 = {}
    #: the parameters in MXNet 2.x with their defaults there, where `__init__` has others
    _in_mxnet_2 = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "_in_mxnet_2" in own:
            cls.__init__ = with_defaults(cls.__init__, cls._in_mxnet_2, cls._names_of_mxnet_2)
        if "update" in own:
            cls._update_some = own["update"]
        elif "step" in own or "fused_step" in own:  # which decide, whatever the base is
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
        #: whether `aggregate_num` was requested; else a step may change more weights together
        self.aggregates_as_asked = aggregate_num is not None or env.is_set(
            "MXNET_OPTIMIZER_AGGREGATION_SIZE"
        )
        if use_fused_step is None:  # as in MXNet 2, whose own optimizers have operators
            use_fused_step = any(_OWN.match(k.__module__) for k in _subclasses(type(self)))
        self.use_fused_step = use_fused_step

    def _aggregation(self, asked):
        """How many weights are updated together: as asked for, else as the variable says."""
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
        """Register an optimizer class, so that `create_optimizer` finds it by its name.

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
            Name of a registered class, in any case of letters.
        **kwargs
            Arguments of the class.

        Returns
        -------
        Optimizer

        Raises
        ------
        ValueError
            When no optimizer has that name.
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
        """Make what has to be remembered about one weight (momentum and the like).

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
        """Make the state of one weight, with a float32 copy of it where `multi_precision` asks.

        Parameters
        ----------
        index : int
            Index of the weight.
        weight : NDArray
            The weight.

        Returns
        -------
        None, NDArray or tuple
            ``(float32 weight, state)`` for a float16 weight under `multi_precision`, the other way
            round for SGD, NAG and LARS; else what `create_state` returns.
        """
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                pair = (master, self.create_state(index, master))
                return pair if self._master_first else pair[::-1]
            self._warn_about_float16()
        return self.create_state(index, weight)

    def _warn_about_float16(self):
        warn(
            "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
            f"Consider using multi_precision=True option of the {type(self).__name__} optimizer"
        )

    def update(self, index, weight, grad, state):
        """Change one weight, or several of one dtype.

        Parameters
        ----------
        index : int or list of int
            Index of the weight.
        weight : NDArray or list of NDArray
            Changed in place.
        grad : NDArray or list of NDArray
            Its gradient.
        state : any or list
            What `create_state` made; changed in place.
        """
        kind = type(self)
        if kind.step is Optimizer.step and kind.fused_step is Optimizer.fused_step:
            self._update_some(index, weight, grad, state)
        elif self.use_fused_step and kind.fused_step is not Optimizer.fused_step:
            self.fused_step(*_as_lists(index, weight, grad, state))
        else:
            self.step(*_as_lists(index, weight, grad, state))

    def _update_some(self, index, weight, grad, state):
        """What `update` does unless a subclass has a `step` or an `update` of its own."""
        if self._most_together:
            index, *arrays = _as_lists(index, weight, grad, state)
            self._update_count(index)
            counts = [self._index_update_count[i] for i in index]
            self._apply_many(*arrays, self._get_lrs(index), self._get_wds(index), counts)
            return
        if isinstance(index, (list, tuple)):
            for one in zip(index, weight, grad, state, strict=True):
                self._update_some(*one)
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
        """Change several weights, see `update`.

        Parameters
        ----------
        indices : list of int
            Indices of the weights.
        weights, grads : list of NDArray
            The weights, changed in place, and their gradients.
        states : list
            What `create_state` made; changed in place.
        """
        for one in zip(indices, weights, grads, states, strict=True):
            self._update_some(*one)

    def fused_step(self, indices, weights, grads, states):
        """Change several weights, in one operator where there is one; see `step`."""
        self.step(indices, weights, grads, states)

    def _apply(self, weight, grad, state, lr, wd, count):
        """Change one weight; `count` is the number of its updates including this one."""
        raise NotImplementedError(f"{type(self).__name__} does not say how weights change")

    def _apply_many(self, weights, grads, states, lrs, wds, counts):
        """Change several weights; as `_apply`, with lists."""
        for one in zip(weights, grads, states, lrs, wds, counts, strict=True):
            self._apply(*one)

    def _whole_step(self, indices, states):
        """The `WholeStep` of weights with that many states, counted; None where there is none."""
        return None

    def update_multi_precision(self, index, weight, grad, state):
        """Change one weight or several, through their float32 copies where they have one.

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
        return state if self._master_first else state[::-1]

    def _has_master(self, weight):
        return self.multi_precision and weight.dtype == np.float16

    def _rescaled(self, grad):
        """The gradient multiplied by `rescale_grad`, then clipped."""
        return self._clipped(grad * self.rescale_grad)

    def _clipped(self, grad):
        if self.clip_gradient is None:
            return grad
        return nd.clip(grad, -self.clip_gradient, self.clip_gradient)

    def _operator_arguments(self):
        """The arguments that all update operators share."""
        arguments = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            arguments["clip_gradient"] = self.clip_gradient
        return arguments

    # -- pickling: parameters belong to their blocks ----------------------------------------------

    def __getstate__(self):
        left = ("param_dict", "aggregates_as_asked")  # which MXNet's files do not have
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name_there, name_here in self._names_of_mxnet_2.items():
            if name_there in state:
                self.__dict__.setdefault(name_here, state[name_there])
        self.param_dict = {}
        # States of MXNet 1.x do not have it.
        self.__dict__.setdefault("use_fused_step", True)
        self.__dict__.setdefault("aggregates_as_asked", False)


def _as_lists(index, weight, grad, state):
    if isinstance(index, (list, tuple)):
        return index, weight, grad, state
    return [index], [weight], [grad], [state]


def _subclasses(cls):
    """A class and its bases below `Optimizer`."""
    return cls.__mro__[: cls.__mro__.index(Optimizer)]


register = Optimizer.register
create = Optimizer.create_optimizer


@register
class Test(Optimizer):
    """Adds the rescaled gradient to the weight; for tests."""

    def create_state(self, index, weight):
        return zeros_like(weight)

    def update(self, index, weight, grad, state):
        weight += grad * self.rescale_grad
        state[:] = weight
