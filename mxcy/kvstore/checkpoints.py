"""Checkpoints of trainings: what a job that is started again goes on from."""

import hashlib
import json
import os
from pathlib import Path

from mxcy._base.files import replacing
from mxcy.base import MXNetError

__all__ = ["Checkpoint", "checkpoint"]

_MANIFEST = "manifest.json"
_BLOCK = 1 << 20


class Checkpoint:
    """Weights and states of the optimizer in a folder that all workers see; see `checkpoint`.

    Attributes
    ----------
    step : int
        How many steps have been made before this program began.
    """

    def __init__(self, kv, net, trainer, path, every):
        self._kv, self._net, self._trainer = kv, net, trainer
        self._folder, self._every = Path(path), every
        self.step = self._resume()

    def done(self, step):
        """Tell that a step has been made; every so many of them, all is written.

        Parameters
        ----------
        step : int
            Its number, from 0 on; all workers tell of the same ones.
        """
        if (step + 1) % self._every == 0:
            self.save(step + 1)

    def save(self, steps):
        """Write all, after that many steps; all workers call it.

        Parameters
        ----------
        steps : int
        """
        names = {"params": f"step-{steps}.params", "states": f"step-{steps}.states"}
        first = self._kv.rank == 0
        if first:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._net.save_parameters(str(self._folder / names["params"]))
        if first or self._trainer._update_on_kvstore:  # states may lie with all workers
            self._trainer.save_states(str(self._folder / names["states"]))
        if not first:
            return
        files = {kind: [name, *_digest(self._folder / name)] for kind, name in names.items()}
        manifest = {"step": steps, "workers": self._kv.num_workers, "files": files}
        with replacing(self._folder / _MANIFEST) as file:
            file.write(json.dumps(manifest, indent=1).encode())
        for path in self._folder.glob("step-*.*"):
            if path.name not in names.values():
                path.unlink(missing_ok=True)

    def _resume(self):
        """Take what is there; the number of its step."""
        handle = self._kv.handle
        if handle.arriving:  # whose weights are those of the job
            return handle.steps_before + self._kv.joined_at
        try:
            text = (self._folder / _MANIFEST).read_text(encoding="utf-8")
        except FileNotFoundError:
            text = None
        text = self._kv.handle.of_first(text)  # a shared folder may tell workers different things
        if text is None:
            return 0
        try:
            manifest = json.loads(text)
            step, files = int(manifest["step"]), manifest["files"]
            paths = {kind: self._checked(*files[kind]) for kind in ("params", "states")}
        except (ValueError, KeyError, TypeError) as error:
            raise MXNetError(f"{self._folder / _MANIFEST} is damaged: {error}") from None
        self._net.load_parameters(str(paths["params"]))
        self._trainer.load_states(str(paths["states"]))
        handle.steps_before = step
        return step

    def _checked(self, name, size, digest):
        path = self._folder / os.path.basename(name)
        try:
            actual = _digest(path)
        except OSError as error:
            raise MXNetError(f"checkpoint {path}: {error.strerror}") from None
        if actual != [size, digest]:
            raise MXNetError(f"checkpoint {path} is damaged: it is not what has been written")
        return path


def _digest(path):
    """The size of a file and a digest of its content."""
    content, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            content.update(block)
            size += len(block)
    return [size, content.hexdigest()]


def checkpoint(kv, net, trainer, path, every=1000):
    """Write checkpoints of a training, and go on from the last one.

    All workers call it before their first step, with the same arguments. If the folder has a
    checkpoint, of a job with whatever number of workers, weights and states are taken from it.

    Parameters
    ----------
    kv : KVStore
        The store of the job.
    net : gluon.Block
        Whose parameters are kept.
    trainer : gluon.Trainer
        Whose optimizer and states are kept.
    path : str
        A folder that all workers see.
    every : int
        Steps between checkpoints.

    Returns
    -------
    Checkpoint

    Raises
    ------
    MXNetError
        When the trainer has made steps already, or what is in the folder is damaged.

    Examples
    --------
    A loop that a restart by ``launch --max-restarts`` continues::

        kept = mx.kv.checkpoint(store, net, trainer, "kept", every=100)
        for step in range(kept.step, 10000):
            train(step)
            kept.done(step)
    """
    if every < 1:
        raise MXNetError(f"checkpoint: every={every}: expected 1 or more")
    if trainer._kv_initialized and not kv.handle.arriving:
        raise MXNetError("checkpoint: call it before the trainer's first step")
    return Checkpoint(kv, net, trainer, path, every)
