"""The progress thread of a process: MPI is called there, or while it is at rest."""

import itertools
import logging
import threading
import time
from collections import deque

from mxcy.base import MXNetError
from mxcy.dist.agreement import Agreement
from mxcy.dist.inbox import Inbox
from mxcy.dist.keys.exchange import Exchange
from mxcy.dist.keys.timing import Pace
from mxcy.dist.members.admission import Admission
from mxcy.dist.members.control import ControlMessages
from mxcy.dist.members.joining import Joining
from mxcy.dist.members.membership import Membership
from mxcy.dist.members.named_calls import NamedCalls
from mxcy.dist.polling import Polling, sleep_precisely
from mxcy.dist.servers.messenger import Messenger
from mxcy.dist.turn import Turn
from mxcy.dist.worlds.collectives import gather_texts

__all__ = ["ProgressThread"]

_LINGER = 0.5  # seconds
_ANNOUNCE_SECONDS = 1  # limit of sending a message to all


class ProgressThread:
    """Owns a world and drives all communication in it.

    Parameters
    ----------
    open_world : callable
        Creates the `World`, on the progress thread.
    patience : float
        Seconds of waiting after which missing ranks are identified and waits fail; 0: never.
    interval : float
        Seconds between log lines, see `Pace`.
    heartbeat : tuple of float
        Interval and timeout, see `Neighbour`.
    min_workers : int, optional
        The smallest number of ranks with which the job continues when others die; None: all.
    folder : str, optional
        The job's folder, with requests to join it.
    replacements : int
        The number of dead ranks that may be replaced.

    Attributes
    ----------
    world : World
    joined : dict or None
        State of the running job that this process has joined; see `Admission`.
    comm_seconds : float
        Seconds during which collectives were in flight.
    elastic : bool
        Whether the job continues when processes die.
    membership : Membership
        Rank and number of workers, as the program sees them.
    exchanges : list of Exchange
        In the order in which all ranks created them.
    unclaimed : deque of Exchange
        Exchanges of the job that this process has joined, until its program creates them.
    started : int
        Number of agreements so far.
    inbox : Inbox
        Of functions to call on the progress thread.
    submit : callable
        Has a function called there, in order of submission.
    turn : Turn
        To advance communication.

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
        min_workers=None,
        folder=None,
        replacements=0,
    ):
        self.exchanges = []
        self.world = self.joined = None
        self._admitting = folder, replacements
        self.unclaimed = deque()
        self.comm_seconds = 0.0
        self.pace = Pace(self, interval)
        self._looked = time.monotonic()
        self.closing = self.failed = None
        self.inbox, self._agreements = Inbox(), deque()
        self.submit = self.inbox.submit
        self._current = None
        self.started = 0
        self._exchange_numbers = itertools.count()
        self.turn = Turn(self)
        self._ping_lock = threading.Lock()  # one `silent` at a time
        self._min_workers, self.elastic = min_workers, min_workers is not None
        self._patience, self._heartbeat = patience, heartbeat
        self._opened = Agreement(None, "open")
        self._thread = threading.Thread(
            target=self._run, args=(open_world,), name="mxcy progress", daemon=True
        )
        self._thread.start()
        while not self._opened.over.wait(self._opened.patience):
            seconds = time.monotonic() - self._opened.began
            logging.warning("waiting for %.0f seconds for all processes of the job", seconds)
        if self._opened.error is not None:
            raise self._opened.error

    #: seconds, on the clock of this thread
    now = staticmethod(time.monotonic)

    def next_exchange(self):
        """The index of a new exchange."""
        return next(self._exchange_numbers)

    def new_exchange(self, bound, reduction=None):
        """Create an exchange, or claim the next one that the job had before this process joined it.

        Parameters
        ----------
        bound, reduction
            See `Exchange`.

        Returns
        -------
        Exchange
        """
        return self.unclaimed.popleft() if self.unclaimed else Exchange(self, bound, reduction)

    # -- called by other threads -------------------------------------------------------------------

    def call(self, steps, what):
        """Run a collective generator of requests, and wait for its result.

        Parameters
        ----------
        steps : generator
        what : str
            Description for errors.

        Returns
        -------
        object

        Raises
        ------
        MXNetError
            When a rank has left the job without taking part.
        """
        agreement = Agreement(steps, what)
        self.submit(lambda: self._begin(agreement))
        if not self._thread.is_alive():
            raise MXNetError(f"{what}: the job has been closed")
        agreement.over.wait()
        if agreement.error is not None:
            raise agreement.error
        return agreement.value

    def begin(self, steps, what):
        """Run a generator as `call` does, without waiting; on the progress thread."""
        self._begin(Agreement(steps, what))

    def join(self):
        """Contribute zeros to others' sums until all ranks have joined.

        Returns
        -------
        int
            The rank that joined last, in the order seen by rank 0.
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
        """The ranks that do not answer a ping within some seconds.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        list of int
        """
        with self._ping_lock:
            over = threading.Event()
            self.submit(lambda: self.control.ping_all(over))
            return [] if over.wait(seconds) else self.control.silent()

    def close(self):
        """Say goodbye, wait for all other ranks, and end all communication."""
        if self._thread.is_alive():
            self.submit(self._begin_close)
            self._thread.join()

    def announce_failure(self):
        """Tell all ranks that this program has failed and prints its own error."""
        done = threading.Event()

        def announce():
            self.control.to_all("failing")
            done.set()

        self.submit(announce)
        done.wait(_ANNOUNCE_SECONDS)

    def abort(self, text):
        """Fail everything that waits for other ranks, now or later."""
        self.submit(lambda: self._fail(MXNetError(text)))

    # -- on the progress thread --------------------------------------------------------------------

    def _run(self, open_world):
        self.turn.acquire()
        sleep_precisely()
        try:
            self.world = open_world()
            self.control = ControlMessages(self, self._patience, self._heartbeat)
            self.named_calls, self.joining = NamedCalls(self), Joining(self)
            self.messenger = Messenger(self.world, self._patience)
            self.membership = Membership(self)
            self.admission = Admission(self, *self._admitting)
            if self.world.bells is not None:
                self.inbox.wake = self.world.bells.own
            self.polling = Polling(self.world, self.inbox.wake, self.turn, self._in_flight)
            if self.world.joins:
                self.joined = self.world.broadcast_from(0, None)
                self.started = self.joined["tasks"]
                self.admission.restore(self.joined)
        except Exception as error:
            self._opened.error = error
        self._opened.over.set()
        if self.world is None:
            return
        try:
            while not self._step_or_shrink():
                pass
            if self.elastic and self.membership.shrunk:
                time.sleep(
                    _LINGER
                )  # until the others are here too: they would report this rank dead
            self.world.finalize()
        except Exception as error:  # of MPI: not recoverable
            self._fail(MXNetError(f"rank {self.world.rank}: MPI failed: {error}"))

    def _step_or_shrink(self):
        try:
            return self._step()
        except Exception as error:
            while self.elastic and self.failed is None and self.world.is_peer_failure(error):
                if self.closing is not None and self.control.all_left():
                    return True  # a rank has exited already
                try:
                    self._shrink()
                    return False
                except Exception as again:  # another rank has died meanwhile
                    error = again
            raise error

    def _shrink(self):
        """Continue without dead ranks."""
        names = [self.control.name(rank) for rank in range(self.world.size)]
        with self.membership.lock:
            formers = self.world.shrink()
            self.control.renew(formers)
            self.membership.note()
            self.admission.forget()
            dead = ", ".join(names[rank] for rank in range(len(names)) if rank not in formers)
            if self.world.size < self._min_workers and self.closing is None:
                self._fail(
                    MXNetError(
                        f"{dead} died; {self.world.size} workers are left, and --min-workers is "
                        f"{self._min_workers}"
                    )
                )
                return
            for part in (self.named_calls, self.joining, self.messenger):
                part.fail_waiting(f"{dead} died")
            if self._current is not None:
                self._current.error = MXNetError(f"{dead} died, in {self._current.what}")
                self._resume(self._current)
            try:
                for exchange in self.exchanges:
                    exchange.shrink(self.membership.factor)
            except MXNetError as error:
                self._fail(MXNetError(f"{dead} died; {error}"))
                return
            if self.closing is not None:
                self._say_goodbye()

    def _step(self):
        """Advance all communication, or wait; return whether the job is over."""
        now = self.now()
        moved, sums, others = self.advance(now)
        if self.closing is not None and self.closing.done():
            return True
        if moved:
            self.polling.note_moves()
        else:  # after the last sum, too: the program has waited for it
            self.polling.rest(now, sums, others)
        return False

    def advance(self, now):
        """Advance all communication, on the thread that has the turn.

        Returns
        -------
        bool, bool, bool
            Whether to do so again at once, and whether sums or anything else is unfinished.
        """
        if any(exchange.in_flight for exchange in self.exchanges):
            self.comm_seconds += now - self._looked
        self._looked = now
        self.pace.step(now)
        moved = self.inbox.read()
        moved |= self._step_agreement()
        others = self._current is not None or bool(self._agreements) or self.closing is not None
        sums = False
        for exchange in self.exchanges:
            advanced, waits = exchange.step(now)
            moved |= advanced
            sums |= waits
        answered = self.joining.step()
        others |= self.joining.waits
        self.admission.look(now)
        for advanced, waits in (self.named_calls.step(), self.messenger.step(now)):
            answered |= advanced
            others |= waits
        answered |= self.control.look(now)
        return answered or (moved and (sums or others)), sums, others

    def _in_flight(self):
        return [poll for exchange in self.exchanges for poll in exchange.in_flight_polls()]

    def _begin(self, agreement):
        if self.failed is not None:
            agreement.error = MXNetError(f"{self.failed}, in {agreement.what}")
            agreement.over.set()
        else:
            self._agreements.append(agreement)

    def _step_agreement(self):
        if self._current is None:
            if not self._agreements:
                return False
            agreement = self._current = self._agreements.popleft()
            self.started += 1
            agreement.number, agreement.began = self.started, time.monotonic()
            agreement.error = self.control.absent(agreement)
            return self._resume(agreement)
        agreement = self._current
        agreement.error = agreement.error or self.control.absent(agreement)
        if agreement.error is not None or agreement.request.done():
            return self._resume(agreement)
        return False

    def _resume(self, agreement):
        try:
            if agreement.error is not None:
                agreement.steps.close()
                raise StopIteration
            agreement.request = next(agreement.steps)
            return True
        except StopIteration as end:
            agreement.value = end.value
        except Exception as error:
            if self.elastic and self.world.is_peer_failure(error):
                raise
            agreement.error = error
        self._current = None
        agreement.over.set()
        return True

    def report(self):
        """Progress of this rank: pushes of each key by exchange, and agreements started."""
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

    def report_lost(self, rank, fate):
        """Fail because another rank has died or does not answer."""
        if self.failed is None:
            self._fail(MXNetError(f"{self.control.name(rank)} {fate}"))

    def _fail(self, error):
        self.failed = error
        for agreement in [self._current, *self._agreements]:
            if agreement is not None:
                agreement.error = MXNetError(f"{error}, in {agreement.what}")
                agreement.over.set()
        for exchange in self.exchanges:
            exchange.fail(str(error))
        self.named_calls.fail(str(error))
        self.joining.fail(str(error))
        self.admission.forget()
        self.messenger.fail(str(error))

    @property
    def waiting(self):
        """Agreement or None: the agreement in progress."""
        return self._current
