"""Checkpoint files of modules."""

import logging

from mxcy._files.checkpoint import file_name
from mxcy.module.base_module import BaseModule

__all__ = ["Checkpoints"]


class Checkpoints(BaseModule):
    """Mixin that saves a module's symbol, parameters and optimizer states."""

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Write ``prefix-symbol.json``, ``prefix-0001.params`` etc.

        Parameters
        ----------
        prefix : str
            Prefix of the file names.
        epoch : int
            Epoch number in the file names.
        save_optimizer_states : bool
            Also write ``prefix-0001.states``.
        remove_amp_cast : bool
            Remove casts inserted by automatic mixed precision.
        """
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        params = file_name(prefix, epoch)
        self.save_params(params)
        logging.info('Saved checkpoint to "%s"', params)
        if save_optimizer_states:
            states = file_name(prefix, epoch, "states")
            self.save_optimizer_states(states)
            logging.info('Saved optimizer state to "%s"', states)

    def save_optimizer_states(self, fname):
        """Write the optimizer's states to a file.

        Parameters
        ----------
        fname : str
            The file.
        """
        self._assert_ready(optimizer=True)
        self._updates.save_states(fname)

    def load_optimizer_states(self, fname):
        """Read the optimizer's states from a file that `save_optimizer_states` wrote.

        Parameters
        ----------
        fname : str
            The file.
        """
        self._assert_ready(optimizer=True)
        self._updates.load_states(fname)
