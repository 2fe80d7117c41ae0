"""Base class of stores in a job of several processes."""

from mxcy._execute.overlap import overlap
from mxcy.dist.job import job
from mxcy.dist.servers.server_commands import command_servers, server_places
from mxcy.dist.worlds import collectives
from mxcy.kvstore.local import LocalStore

__all__ = ["JobStore"]


class JobStore(LocalStore):
    """Base of distributed stores: access to the job of this process; subclasses hold the values.

    Parameters
    ----------
    kind : str
        Type of the store, containing 'dist'.

    Raises
    ------
    MXNetError
        If the process cannot join the job.
    """

    def __init__(self, kind):
        super().__init__(kind)
        self._progress = job.open()
        overlap.in_use = True

    @property
    def progress(self):
        """ProgressThread: the thread that communicates."""
        return self._progress

    @property
    def rank(self):
        return self._progress.membership.rank

    @property
    def num_workers(self):
        return self._progress.membership.size

    @property
    def arriving(self):
        """bool: whether this worker has joined a running job and not yet started its first step."""
        return self._progress.admission.arriving

    @property
    def elastic(self):
        """bool: whether the job survives deaths of workers, and then repeats pushes."""
        return self._progress.elastic

    def on_change(self, function):
        """Register ``function(old, new)``, called when the number of workers changes."""
        self._progress.membership.on_change(function)

    @property
    def servers(self):
        return len(server_places(self._progress))

    def send_command(self, head, body):
        """Send a command to the server processes, if there are any."""
        command_servers(self._progress, head, body)

    def of_first(self, value):
        """Return the first worker's value, which must be JSON-serializable; all workers call it."""
        gathering = collectives.gather_texts(self._progress.world, value)
        return self._progress.call(gathering, "the value of rank 0")[0]

    def barrier(self):
        """Wait for all workers."""
        if self.arriving:  # the others passed this barrier before it joined
            return
        self._progress.call(collectives.barrier(self._progress.world), "_barrier()")

    def dead_workers(self, seconds):
        """Number of workers unresponsive for this many seconds."""
        return len(self._progress.silent(seconds))

    def note_samples(self, count):
        """Count trained samples of this worker, for the log."""
        self._progress.pace.note(count)
