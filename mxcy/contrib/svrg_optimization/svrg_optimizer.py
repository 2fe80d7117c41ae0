"""Optimizers for stores that also hold the mean gradients over all data."""

from mxcy import optimizer as optimizers

__all__: list[str] = []

_COMMON = (
    "rescale_grad",
    "param_idx2name",
    "wd",
    "clip_gradient",
    "learning_rate",
    "lr_scheduler",
    "sym",
    "begin_num_update",
    "multi_precision",
    "param_dict",
)


@optimizers.register
class _AssignmentOptimizer(optimizers.Optimizer):
    """Replace the weight by the gradient."""

    def create_state(self, index, weight):
        return None

    def update(self, index, weight, grad, state):
        """Overwrite a weight with its gradient."""
        weight[:] = grad


@optimizers.register
class _SVRGOptimizer(optimizers.Optimizer):
    """Run an optimizer, but overwrite values with ``full`` in their name.

    Parameters
    ----------
    default_optimizer : str or Optimizer
        Optimizer of the weights.
    **kwargs
        Arguments of `Optimizer`, and of `default_optimizer` if that is a name.
    """

    def __init__(self, default_optimizer, **kwargs):
        super().__init__(**self._check_params(**kwargs))
        if isinstance(default_optimizer, str):
            default_optimizer = optimizers.create(default_optimizer, **kwargs)
        self.default_opt = default_optimizer
        self.aux_opt = optimizers.create("_AssignmentOptimizer")

    @staticmethod
    def _check_params(**kwargs):
        """Select the arguments that `Optimizer` accepts."""
        return {name: value for name, value in kwargs.items() if name in _COMMON}

    def _of(self, index):
        return self.aux_opt if "full" in self._check_index(index) else self.default_opt

    def _check_index(self, index):
        """The name of a parameter, given by name or by index."""
        return index if index in self.idx2name.values() else self.idx2name[index]

    def create_state(self, index, weight):
        """Create the state of a weight, see `Optimizer.create_state`."""
        return self._of(index).create_state(index, weight)

    def update(self, index, weight, grad, state):
        """Update a weight with its gradient, or overwrite it; see `Optimizer.update`."""
        self._of(index).update(index, weight, grad, state)
