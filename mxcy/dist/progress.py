"""The thread of a process that sends and receives; everything of MPI happens there."""

import itertools
import threading
import time
from collections import deque

from mxcy.base import MXNetError
from mxcy.dist.keys.exchange import Exchange
from mxcy.dist.keys.timing import Pace
from mxcy.dist.members.admission import Admission
from mxcy.dist.members.control import ControlMessages
from mxcy.dist.members.joining import Joining
from mxcy.dist.members.membership import Membership
from mxcy.dist.members.named_calls import NamedCalls
from mxcy.dist.polling import Polling
from mxcy.dist.servers.messenger import Messenger
from mxcy.dist.worlds.collectives import gather_texts

__all__ = ["ProgressThread"]

_LINGER = 0.5
_TELL_SECONDS = 1  # that a message to all may take


class _Task:
    """An agreement that a thread waits for."""

    def __init__(self, steps, what):
        self.steps, self.what, self.number = steps, what, 0
        self.over = threading.Event()
        self.value = self.error = self.request = None
        self.began = time.monotonic()


class ProgressThread:
    """Owns a world, and carries on what has been started in it.

    Parameters
    ----------
    open_world : callable
        Makes the `World`, on the progress thread.
    patience : float
        After that many seconds of waiting, processes that do not answer are looked for; 0: never.
    interval : float
        Seconds between lines of the log, see `Pace`.
    heartbeat : tuple of float
        See `Neighbour`: the interval and the timeout.
    least : int, optional
        With how many processes it goes on when others die; None: with all only.
    folder : str, optional
        Where requests to join the job lie.
    replacements : int
        How many processes that have died are replaced.

    Attributes
    ----------
    world : World
    joined : dict or None
        The state of the running job that this process has joined; see `Admission`.
    travelled : float
        Seconds in which sums were under way.
    elastic : bool
        Whether it goes on when processes die.
    membership : Membership
        What the program sees of the processes.
    exchanges : list of Exchange
        What is carried on, in the order in which all processes made it.
    unclaimed : deque of Exchange
        Those that the job had when this process joined it, and that its program has not made.
    started : int
        How many agreements there have been.

    Raises
    ------
    MXNetError
        When the world cannot be opened.
    """

    def __init__(
        self,
        open_world,
        patience=0,
        interval=0,
        heartbeat=(0, 0),
        least=None,
        folder=None,
        replacements=0,
    ):
        self.exchanges = []
        self.world = self.joined = None
        self._admitting = folder, replacements
        self.unclaimed = deque()
        self.travelled = 0.0
        self.pace = Pace(self, interval)
        self._looked = time.monotonic()
        self.closing = self.failed = None
        self._inbox, self._tasks = deque(), deque()
        self._current = None
        self.started = 0  # tasks
        self._exchange_numbers = itertools.count()
        self._wake = threading.Event()
        self._roll = threading.Lock()  # one call of the roll at a time
        self._least, self.elastic = least, least is not None
        self._patience, self._heartbeat = patience, heartbeat
        self._opened = _Task(None, "open")
        self._thread = threading.Thread(
            target=self._live, args=(open_world,), name="mxcy progress", daemon=True
        )
        self._thread.start()
        self._opened.over.wait()
        if self._opened.error is not None:
            raise self._opened.error

    #: seconds on the clock of this thread
    now = staticmethod(time.monotonic)

    def next_exchange(self):
        """The number of a new exchange."""
        return next(self._exchange_numbers)

    def new_exchange(self, bound, way=None):
        """A new exchange, or the next one of those that the job had before this process joined it.

        Parameters
        ----------
        bound, way
            See `Exchange`.

        Returns
        -------
        Exchange
        """
        return self.unclaimed.popleft() if self.unclaimed else Exchange(self, bound, way)

    # -- for other threads ------------------------------------------------------------------------

    def submit(self, function):
        """Have a function called on the progress thread, after those before it."""
        self._inbox.append(function)
        self._wake.set()

    def call(self, steps, what):
        """Run a generator of requests in which all processes take part, and wait for its result.

        Parameters
        ----------
        steps : generator
        what : str
            What it is, for errors.

        Returns
        -------
        object

        Raises
        ------
        MXNetError
            When a process has left the job without taking part.
        """
        task = _Task(steps, what)
        self.submit(lambda: self._begin(task))
        if not self._thread.is_alive():
            raise MXNetError(f"{what}: the job has been closed")
        task.over.wait()
        if task.error is not None:
            raise task.error
        return task.value

    def begin(self, steps, what):
        """Run a generator as `call` does; on the progress thread, and nobody waits."""
        self._begin(_Task(steps, what))

    def join(self):
        """Take part in sums with nothing until all processes do.

        Returns
        -------
        int
            Who joined last, as the first process has heard of it.
        """
        over, answers = threading.Event(), []
        order = []

        def on_done(error):
            answers.append(error)
            over.set()

        def begin():
            order.append(self.joining.ranks)
            self.joining.join(on_done)

        self.submit(begin)
        over.wait()
        if answers[0]:
            raise MXNetError(answers[0])
        return self.call(gather_texts(self.world, order[0][-1]), "join()")[0]

    def silent(self, seconds):
        """The ranks that give no sign of life for that many seconds.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        list of int
        """
        with self._roll:
            over = threading.Event()
            self.submit(lambda: self.control.call_roll(over))
            return [] if over.wait(seconds) else self.control.silent()

    def close(self):
        """Say goodbye, wait for all others, and leave; nothing is sent or received afterwards."""
        if self._thread.is_alive():
            self.submit(self._begin_close)
            self._thread.join()

    def announce_failure(self):
        """Tell the others that this program has failed, and will end with a message of its own."""
        done = threading.Event()

        def tell():
            self.control.to_all("failing")
            done.set()

        self.submit(tell)
        done.wait(_TELL_SECONDS)

    def give_up(self, text):
        """Have all that waits for others, now or later, end with an error."""
        self.submit(lambda: self._fail(MXNetError(text)))

    # -- the progress thread ---------------------------------------------------------------------

    def _live(self, open_world):
        try:
            self.world = open_world()
            self.control = ControlMessages(self, self._patience, self._heartbeat)
            self.named_calls, self.joining = NamedCalls(self), Joining(self)
            self.messenger = Messenger(self.world, self._patience)
            self.membership = Membership(self)
            self.admission = Admission(self, *self._admitting)
            self.polling = Polling(self.world, self._wake, self._any_done)
            if self.world.joins:
                self.joined = self.world.broadcast_from(0, None)
                self.started = self.joined["tasks"]
                self.admission.take_over(self.joined)
        except Exception as error:
            self._opened.error = error
        self._opened.over.set()
        if self.world is None:
            return
        try:
            while not self._turn_or_shrink():
                pass
            if self.elastic and self.membership.shrunk:
                time.sleep(_LINGER)  # until the others are as far, who would miss this process
            self.world.finalize()
        except Exception as error:  # of MPI: nothing can go on
            self._fail(MXNetError(f"rank {self.world.rank}: MPI failed: {error}"))

    def _turn_or_shrink(self):
        try:
            return self._turn()
        except Exception as error:
            while self.elastic and self.failed is None and self.world.loses(error):
                if self.closing is not None and self.control.all_left():
                    return True  # somebody has gone already
                try:
                    self._shrink()
                    return False
                except Exception as again:  # another process has died meanwhile
                    error = again
            raise error

    def _shrink(self):
        """Go on without processes that have died."""
        names = [self.control.name(rank) for rank in range(self.world.size)]
        with self.membership.lock:
            formers = self.world.shrink()
            self.control.renew(formers)
            self.membership.note()
            self.admission.forget()
            dead = ", ".join(names[rank] for rank in range(len(names)) if rank not in formers)
            if self.world.size < self._least and self.closing is None:
                self._fail(
                    MXNetError(
                        f"{dead} died; {self.world.size} workers are left, and --min-workers is "
                        f"{self._least}"
                    )
                )
                return
            for waiting in (self.named_calls, self.joining, self.messenger):
                waiting.fail_waiting(f"{dead} died")
            if self._current is not None:
                self._current.error = MXNetError(f"{dead} died, in {self._current.what}")
                self._resume(self._current)
            for exchange in self.exchanges:
                exchange.shrink(self.membership.factor)
            if self.closing is not None:
                self._say_goodbye()

    def _turn(self):
        """Carry on what can be; whether all is over."""
        now = self.now()
        if any(exchange.posted for exchange in self.exchanges):
            self.travelled += now - self._looked
        self._looked = now
        self.pace.step(now)
        moved = self._read_inbox()
        moved |= self._step_task()
        busy = self._current is not None or self.closing is not None
        for exchange in self.exchanges:
            went, waits = exchange.step(now)
            moved |= went
            busy |= waits
        moved |= self.joining.step()
        busy |= self.joining.waits
        self.admission.look(now)
        went, waits = self.named_calls.step()
        moved |= went | self.control.look(now)
        busy |= waits
        went, waits = self.messenger.step(now)
        moved |= went
        busy |= waits
        if self.closing is not None and self.closing.done():
            return True
        if moved:
            self.polling.note_moves()
        else:
            self.polling.rest(now, busy)
        return False

    def _any_done(self):
        return any(exchange.any_done() for exchange in self.exchanges)

    def _read_inbox(self):
        self._wake.clear()
        moved = False
        while self._inbox:
            self._inbox.popleft()()
            moved = True
        return moved

    def _begin(self, task):
        if self.failed is not None:
            task.error = MXNetError(f"{self.failed}, in {task.what}")
            task.over.set()
        else:
            self._tasks.append(task)

    def _step_task(self):
        if self._current is None:
            if not self._tasks:
                return False
            task = self._current = self._tasks.popleft()
            self.started += 1
            task.number, task.began = self.started, time.monotonic()
            task.error = self.control.absent(task)
            return self._resume(task)
        task = self._current
        task.error = task.error or self.control.absent(task)
        if task.error is not None or task.request.done():
            return self._resume(task)
        return False

    def _resume(self, task):
        try:
            if task.error is not None:
                task.steps.close()
                raise StopIteration
            task.request = next(task.steps)
            return True
        except StopIteration as end:
            task.value = end.value
        except Exception as error:
            if self.elastic and self.world.loses(error):
                raise
            task.error = error
        self._current = None
        task.over.set()
        return True

    def report(self):
        """How far this process has come: pushes by key of each exchange, and agreements."""
        return {
            "rounds": [exchange.arrived() for exchange in self.exchanges],
            "tasks": self.started,
        }

    def _begin_close(self):
        for exchange in self.exchanges:
            exchange.closing = True
        self.messenger.leave()
        self._say_goodbye()

    def _say_goodbye(self):
        self.control.to_all("bye", **self.report())
        self.closing = self.world.begin_barrier()

    def lose(self, rank, fate):
        """Another process has died, or does not answer."""
        if self.failed is None:
            self._fail(MXNetError(f"{self.control.name(rank)} {fate}"))

    def _fail(self, error):
        self.failed = error
        for task in [self._current, *self._tasks]:
            if task is not None:
                task.error = MXNetError(f"{error}, in {task.what}")
                task.over.set()
        for exchange in self.exchanges:
            exchange.fail(str(error))
        self.named_calls.fail(str(error))
        self.joining.fail(str(error))
        self.admission.forget()
        self.messenger.fail(str(error))

    @property
    def waiting(self):
        """_Task or None: the agreement that is under way."""
        return self._current
