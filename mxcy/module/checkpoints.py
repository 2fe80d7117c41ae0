"""The files that a module writes, and reads again."""

import logging

from mxcy._files.checkpoint import file_name
from mxcy.module.base_module import BaseModule

__all__ = ["Checkpoints"]


class Checkpoints(BaseModule):
    """A module that writes its symbol, parameters and optimizer's states to files."""

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Write ``prefix-symbol.json``, ``prefix-0001.params`` and the like.

        Parameters
        ----------
        prefix : str
            What the names of the files start with.
        epoch : int
            The number in the names.
        save_optimizer_states : bool
            Whether to write ``prefix-0001.states`` too.
        remove_amp_cast : bool
            Whether to leave out casts of automatic mixed precision.
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
