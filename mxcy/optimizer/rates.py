"""Learning rates, weight decays and update counts of weights."""

import logging

from mxcy.optimizer.defaults import decays_all_weights

__all__ = ["Rates"]


class Rates:
    """Base of `Optimizer` that tracks each weight's learning rate, decay and update count.

    Parameters
    ----------
    learning_rate : float or None
    lr_scheduler : LRScheduler or None
    wd : float
    begin_num_update : int
    param_idx2name : dict of int to str, or None
    sym : Symbol or None
    param_dict : dict of int to Parameter, or None
        See `Optimizer`.
    """

    def __init__(
        self, learning_rate, lr_scheduler, wd, begin_num_update, param_idx2name, sym, param_dict
    ):
        param_idx2name = {} if param_idx2name is None else param_idx2name
        assert isinstance(param_idx2name, dict), (
            "param_idx2name should be a dict of param indexes to names."
        )
        for name, number in (("learning_rate", learning_rate), ("wd", wd)):
            if isinstance(number, str):
                raise TypeError(f"optimizer: {name}: expected a number, got {number!r}")
        self.lr_scheduler = lr_scheduler
        self.lr = 0.01 if learning_rate is None and lr_scheduler is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            if lr_scheduler.base_lr != learning_rate:
                logging.warning(
                    "learning rate from lr_scheduler has been overwritten by learning_rate "
                    "in optimizer."
                )
            lr_scheduler.base_lr = learning_rate
        self.wd = wd

        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.idx2name = dict(param_idx2name)
        self.sym_info = (sym.attr_dict(), sym.list_arguments()) if sym is not None else ()
        self.param_dict = param_dict if param_dict else {}
        self.lr_mult = {}
        self.wd_mult = {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    @property
    def learning_rate(self):
        """float: the current learning rate, before multipliers of individual weights."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return self.lr

    def set_learning_rate(self, lr):
        """Set the learning rate.

        Parameters
        ----------
        lr : float
            The new learning rate.

        Raises
        ------
        UserWarning
            If a scheduler determines the rate.
        """
        if self.lr_scheduler is not None:
            raise UserWarning(
                "LRScheduler of the optimizer has already been defined. Note that "
                "set_learning_rate can mutate the value of the learning rate of the optimizer "
                "only when the LRScheduler of the optimizer is undefined."
            )
        self.lr = lr

    def set_lr_scale(self, args_lrscale):
        """Raise an error: use `set_lr_mult`."""
        raise DeprecationWarning("set_lr_scale was replaced by set_lr_mult")

    def set_lr_mult(self, args_lr_mult):
        """Set the learning rate multipliers of individual weights.

        Parameters
        ----------
        args_lr_mult : dict of (str or int) to float
            Multiplier by name or index; others default to the symbol's attribute
            ``__lr_mult__``, or 1.
        """
        self.lr_mult = {**self._multipliers_of_symbol("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult):
        """Set the weight decay multipliers of individual weights.

        Parameters
        ----------
        args_wd_mult : dict of (str or int) to float
            Multiplier by name or index; others default to the symbol's attribute
            ``__wd_mult__``, or else to 1 for names that end in ``_weight`` or ``_gamma`` and 0
            for all others (1 for all names under the profile of MXNet 2).
        """
        never = {}
        if not decays_all_weights():
            decaying = ("_weight", "_gamma")
            never = {n: 0.0 for n in self.idx2name.values() if not n.endswith(decaying)}
        self.wd_mult = {**never, **self._multipliers_of_symbol("__wd_mult__"), **args_wd_mult}

    def _multipliers_of_symbol(self, key):
        if not self.sym_info:
            return {}
        attrs, names = self.sym_info
        return {n: float(attrs[n][key]) for n in names if key in attrs.get(n, ())}

    def _multiplier(self, index, table, attribute):
        if index in self.param_dict:
            return getattr(self.param_dict[index], attribute)
        if index in table:
            return table[index]
        return table.get(self.idx2name.get(index), 1.0)

    def _get_lrs(self, indices):
        lr = self.learning_rate
        return [lr * self._multiplier(i, self.lr_mult, "lr_mult") for i in indices]

    def _get_lr(self, index):
        return self._get_lrs([index])[0]

    def _get_wds(self, indices):
        return [self.wd * self._multiplier(i, self.wd_mult, "wd_mult") for i in indices]

    def _get_wd(self, index):
        return self._get_wds([index])[0]

    def _set_current_context(self, device_id):
        """Select the device whose counts `_update_count` increments: each has its own."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index):
        counts = self._index_update_count
        for i in index if isinstance(index, (list, tuple)) else [index]:
            counts[i] = counts.get(i, self.begin_num_update) + 1
            self.num_update = max(counts[i], self.num_update)
