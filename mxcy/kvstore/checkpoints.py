"""Checkpoints of training jobs, from which a restarted job resumes."""

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
    """Weights and optimizer states in a folder shared by all workers; see `checkpoint`.

    Attributes
    ----------
    step : int
        Number of steps completed before this program started.
    """

    def __init__(self, kv, net, trainer, path, every):
        self._kv, self._net, self._trainer = kv, net, trainer
        self._folder, self._every = Path(path), every
        self.step = self._resume()

    def done(self, step):
        """Report a completed step; write a checkpoint at the interval.

        Parameters
        ----------
        step : int
            Number of the step, from 0, the same in all workers.
        """
        if (step + 1) % self._every == 0:
            self.save(step + 1)

    def save(self, steps):
        """Write a checkpoint after this many steps; all workers call it.

        Parameters
        ----------
        steps : int
        """
        names = {"params": f"step-{steps}.params", "states": f"step-{steps}.states"}
        first = self._kv.rank == 0
        if first:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._net.save_parameters(str(self._folder / names["params"]))
        if first or self._trainer._update_on_kvstore:  # states may be distributed over all workers
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
        """Load the existing checkpoint; return its step."""
        handle = self._kv.handle
        if handle.arriving:  # gets its weights from the running job
            return handle.steps_before + self._kv.joined_at
        try:
            text = (self._folder / _MANIFEST).read_text(encoding="utf-8")
        except FileNotFoundError:
            text = None
        text = self._kv.handle.of_first(text)  # a shared folder may look different to each worker
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
            raise MXNetError(f"checkpoint {path} is damaged: size or checksum differ")
        return path


def _digest(path):
    """Size and digest of a file."""
    content, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            content.update(block)
            size += len(block)
    return [size, content.hexdigest()]


def checkpoint(kv, net, trainer, path, every=1000):
    """Write checkpoints of a training job, and resume from the last one.

    All workers call it before their first step, with the same arguments. If the folder has a
    checkpoint, of a job with any number of workers, weights and states are loaded from it.

    Parameters
    ----------
    kv : KVStore
        The store of the job.
    net : gluon.Block
        Network whose parameters are saved.
    trainer : gluon.Trainer
        Trainer whose optimizer and states are saved.
    path : str
        Folder shared by all workers.
    every : int
        Steps between checkpoints.

    Returns
    -------
    Checkpoint

    Raises
    ------
    MXNetError
        If the trainer has already made steps, or the checkpoint is damaged.

    Examples
    --------
    A loop that is resumed after a restart by ``launch --max-restarts``::

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
