"""Admission of new ranks to a running job, after a step that all ranks agree on.

The cause is a request in the job's folder, or dead workers to be replaced. Rank 0 asks all ranks
for their step counts; a rank that has answered pauses at the end of its step until rank 0 announces
the step for admission, one after the farthest rank's. After that step all ranks are at the same
point of the program, and no communication is in flight.
"""

import json
import logging
import threading
from pathlib import Path

from mxcy._base.files import replacing
from mxcy.base import MXNetError
from mxcy.dist.keys.exchange import Exchange
from mxcy.dist.members.command_line import new_line
from mxcy.dist.members.requests import REFUSED, REQUESTS
from mxcy.dist.worlds.collectives import gather_texts

__all__ = ["Admission"]

_WHAT = "the end of a step, where processes join"
_LOOK_SECONDS = 0.5  # between checks for requests
_FEWEST_STEPS = 2  # until it is known which exchange ends an iteration of the program


class _Quiet:
    """A request that is done when all pushes of this rank have been reduced."""

    def __init__(self, exchanges):
        self._exchanges = exchanges

    def done(self):
        """Whether the exchanges are idle."""
        return all(exchange.quiet() for exchange in self._exchanges)


class Admission:
    """Admits new ranks.

    Parameters
    ----------
    progress : ProgressThread
    folder : str or None
        The job's folder.
    replacements : int
        The number of dead workers that may be replaced.

    Attributes
    ----------
    arriving : bool
        Whether this process has joined the job and has not pushed yet.
    steps : dict of int to int
        Steps made so far, by index of the exchange.
    """

    def __init__(self, progress, folder=None, replacements=0):
        self._progress, self._folder = progress, folder and Path(folder, REQUESTS)
        self._replacements = replacements  # still allowed
        self._generation = 0  # how often the job has grown
        self.arriving = False
        self._wanted = progress.world.size
        self.steps = {}
        self._last = None  # the exchange whose first step came last
        self._news = threading.Condition()
        self._halted = False  # whether steps pause until the step of admission is known
        self._after = self._count = None  # step of admission, number of new ranks
        self._answers = None  # rank 0: steps by rank
        self._request = None  # rank 0: file of the request; None: replacements
        self._looked = 0.0

    @property
    def awaits(self):
        """bool: whether an admission is being prepared."""
        return self._halted or self._after is not None

    # -- on the program's thread -------------------------------------------------------------------

    def end_step(self, number):
        """Note the end of a step that used the exchange of that index; admit ranks when due."""
        with self._news:
            if number not in self.steps:
                self._last = number
            self.steps[number] = self.steps.get(number, 0) + 1
            if number != self._last:
                return
            self._news.wait_for(lambda: not self._halted)
            if self._after != self.steps[number]:
                return
        before = self._progress.membership.size
        try:
            self._progress.call(self._admit(), _WHAT)
        except MXNetError:  # a rank has died meanwhile
            if not self._progress.elastic or self._progress.failed is not None:
                raise
        self._progress.membership.notify(before)

    # -- on the progress thread --------------------------------------------------------------------

    def restore(self, state):
        """Take over the state of the job that this process has joined."""
        progress = self._progress
        self.arriving = True
        self.steps.update(state["steps"])
        self._last, self._wanted = state["last"], state["wanted"]
        self._replacements, self._generation = state["replacements"], state["generation"]
        progress.membership.most = state["most"]
        progress.membership.resize()
        for exchange in state["exchanges"]:
            progress.unclaimed.append(Exchange(progress, exchange["bound"]))

    def _grow(self):
        """Start ranks and send them the job's state; no communication is in flight."""
        progress = self._progress
        world, membership = progress.world, progress.membership
        formers = list(range(world.size))
        with membership.lock:
            exchanges = [exchange.snapshot() for exchange in progress.exchanges]
            self._generation += 1
            world.grow(new_line(self._generation), self._count)
            progress.control.renew(formers)
            progress.polling.count(world)
            membership.resize()
            state = {
                "exchanges": exchanges,
                "tasks": progress.started,
                "most": membership.most,
                "steps": dict(self.steps),
                "last": self._last,
                "wanted": self._wanted,
                "replacements": self._replacements,
                "generation": self._generation,
            }
            world.broadcast_from(0, state if world.rank == 0 else None)
            for exchange in progress.exchanges:
                exchange.resize(membership.factor)

    def look(self, now):
        """Check for requests and dead ranks, on rank 0, when due."""
        progress = self._progress
        if progress.world.rank or now - self._looked < _LOOK_SECONDS or self._answers is not None:
            return
        self._looked = now
        busy = self._after is not None or progress.control.left or progress.closing is not None
        if busy or progress.failed or self.steps.get(self._last, 0) < _FEWEST_STEPS:
            return
        self._request, count = None, min(self._replacements, self._wanted - progress.world.size)
        if count <= 0:
            self._request = self._first_request()
            count = self._request and _count_of(self._request)
        if count:
            self._answers, self._count = {}, count
            progress.control.to_all("halt")
            self.on_steps(progress.world.rank, self._halt())

    def _first_request(self):
        if self._folder is None or not self._folder.is_dir():
            return None
        files = (path for path in self._folder.iterdir() if path.suffix == ".json")
        return min(files, default=None)

    def _halt(self):
        with self._news:
            self._halted = True
            return self.steps.get(self._last, 0)

    def on_halt(self):
        """Answer rank 0 with this rank's step count."""
        self._progress.control.to_one(0, "steps", steps=self._halt())

    def on_steps(self, rank, steps):
        """Rank 0: note the step count of a rank that pauses after its current step."""
        if self._answers is None:
            return
        self._answers[rank] = steps
        if len(self._answers) == self._progress.world.size:
            after, count = max(self._answers.values()) + 1, self._count
            self._answers = None
            self._progress.control.to_all("admit", after=after, count=count)
            self.on_admit(after, count)

    def on_admit(self, after, count):
        """Note the step after which `count` ranks are admitted."""
        with self._news:
            self._halted, self._after, self._count = False, after, count
            self._news.notify_all()
        if self._progress.joining.waits:
            self.end_all_steps()

    def end_all_steps(self):
        """Admit ranks now, if due: this program makes no more steps in this epoch."""
        if self._after is not None:
            self._progress.begin(self._admit(), _WHAT)

    def forget(self):
        """Cancel an admission, because ranks have died or the job fails."""
        with self._news:
            self._halted, self._after, self._answers = False, None, None
            self._news.notify_all()

    def _admit(self):
        """Admit ranks; a collective generator of requests."""
        progress = self._progress
        yield _Quiet(progress.exchanges)
        obstacles = yield from gather_texts(progress.world, self._obstacle())
        obstacle = next(filter(None, obstacles), None)
        if obstacle is None:
            replaced = min(self._count, self._wanted - progress.world.size)
            self._replacements = max(0, self._replacements - replaced)
            self._wanted = max(self._wanted, progress.world.size + self._count)
            self._grow()
        if progress.world.rank == 0:
            self._answer(obstacle)
        self._after = None

    def _obstacle(self):
        """The reason why no rank can join, or None."""
        progress = self._progress
        if "server" in progress.world.roles:
            return "it has servers; start it with -s 0"
        if progress.named_calls.channel is not None:
            return "its processes make calls by name, as those of Horovod do"
        if progress.joining.ranks:
            return "workers have no more data"
        return next(filter(None, (exchange.obstacle() for exchange in progress.exchanges)), None)

    def _answer(self, obstacle):
        request, self._request = self._request, None
        if obstacle:
            self._replacements = 0
            logging.warning("no process can join the job: %s", obstacle)
        if request is not None:
            if obstacle:
                with replacing(request.with_suffix(REFUSED)) as file:
                    file.write(obstacle.encode())
            request.unlink(missing_ok=True)


def _count_of(path):
    """The number of processes that a request asks for; 0 for an invalid one, which is deleted."""
    try:
        count = json.loads(path.read_text(encoding="utf-8"))["count"]
        if isinstance(count, int) and count > 0:
            return count
    except (OSError, ValueError, KeyError, TypeError):
        pass
    path.unlink(missing_ok=True)
    return 0
