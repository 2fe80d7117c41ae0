"""A store of a job of several processes, as a member of it."""

from mxcy.dist.job import job
from mxcy.dist.servers.server_commands import command_servers, server_places
from mxcy.dist.worlds import collectives
from mxcy.kvstore.local import LocalStore

__all__ = ["JobStore"]


class JobStore(LocalStore):
    """Knows the job that this process belongs to; what it keeps, subclasses know.

    Parameters
    ----------
    kind : str
        A name with 'dist' in it.

    Raises
    ------
    MXNetError
        When the job cannot be opened.
    """

    def __init__(self, kind):
        super().__init__(kind)
        self._progress = job.open()

    @property
    def progress(self):
        """ProgressThread: what sends and receives."""
        return self._progress

    @property
    def rank(self):
        return self._progress.membership.rank

    @property
    def num_workers(self):
        return self._progress.membership.size

    @property
    def arriving(self):
        """bool: whether this worker has joined a running job, and has not begun its first step."""
        return self._progress.admission.arriving

    @property
    def elastic(self):
        """bool: whether the job goes on when workers die, who then need what was pushed."""
        return self._progress.elastic

    def on_change(self, function):
        """Have ``function(old, new)`` called when the number of workers changes."""
        self._progress.membership.on_change(function)

    @property
    def servers(self):
        return len(server_places(self._progress))

    def send_command(self, head, body):
        """Have processes of servers do something, if the job has any."""
        command_servers(self._progress, head, body)

    def of_first(self, value):
        """The first worker's value, of what JSON can tell; all workers call it."""
        gathering = collectives.gather_texts(self._progress.world, value)
        return self._progress.call(gathering, "what rank 0 tells")[0]

    def barrier(self):
        """Wait for the other workers."""
        if self.arriving:  # they have waited for each other long ago
            return
        self._progress.call(collectives.barrier(self._progress.world), "_barrier()")

    def dead_workers(self, seconds):
        """How many workers give no sign of life for that many seconds."""
        return len(self._progress.silent(seconds))

    def note_samples(self, count):
        """Count samples that this worker has trained with, for the lines of the log."""
        self._progress.pace.note(count)
