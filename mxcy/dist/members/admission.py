"""Processes that join a running job: who asks for them, and after which step they come.

Somebody leaves a request in the job's folder, or workers that have died are to be replaced. Rank 0
then asks all how many steps they have made; who has answered waits at the end of its step until it
knows when it will be: after the step that follows the farthest one. There all are at the same place
of the program, and nothing is under way.
"""

import json
import logging
import threading
from pathlib import Path

from mxcy._base.files import replacing
from mxcy.base import MXNetError
from mxcy.dist.keys.exchange import Exchange
from mxcy.dist.members.command_line import new_line
from mxcy.dist.worlds.collectives import gather_texts

__all__ = ["REFUSED", "REQUESTS", "Admission"]

#: the folder of requests in that of the job; what a refused request's file ends with
REQUESTS, REFUSED = "requests", ".refused"
_WHAT = "the end of a step, where processes join"
_LOOK_SECONDS = 0.5  # between looks for requests
_FEWEST_STEPS = 2  # after which it is known whose steps come last in a round of the program


class _Quiet:
    """A request that is done when all that has been pushed here has been added up."""

    def __init__(self, exchanges):
        self._exchanges = exchanges

    def done(self):
        """Whether it is."""
        return all(exchange.quiet() for exchange in self._exchanges)


class Admission:
    """Lets processes join.

    Parameters
    ----------
    progress : ProgressThread
    folder : str or None
        The job's, where requests lie.
    replacements : int
        How many workers that have died are replaced.

    Attributes
    ----------
    arriving : bool
        Whether this process has joined the job, and has not pushed anything.
    steps : dict of int to int
        By the number of an exchange: how many steps this process has made with it.
    """

    def __init__(self, progress, folder=None, replacements=0):
        self._progress, self._folder = progress, folder and Path(folder, REQUESTS)
        self._replacements = replacements  # that are left
        self._generation = 0  # how often processes have joined
        self.arriving = False
        self._wanted = progress.world.size
        self.steps = {}
        self._last = None  # the exchange that was the last one to make its first step
        self._news = threading.Condition()
        self._halted = False  # whether steps wait until it is known when others come
        self._after = self._count = None  # the step after which processes come, and how many
        self._answers = None  # of rank 0: how many steps each has made
        self._request = None  # of rank 0: the file of a request, or None for replacements
        self._looked = 0.0

    @property
    def awaits(self):
        """bool: whether processes come soon."""
        return self._halted or self._after is not None

    # -- the program's thread ---------------------------------------------------------------------

    def end_step(self, number):
        """The program has ended a step with an exchange of that number."""
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
            self._progress.call(self._let_in(), _WHAT)
        except MXNetError:  # somebody has died meanwhile
            if not self._progress.elastic or self._progress.failed is not None:
                raise
        self._progress.membership.tell(before)

    # -- the progress thread ---------------------------------------------------------------------

    def take_over(self, state):
        """Go on as the processes do that have let this one in."""
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
        """Start processes and tell them all of the job; nothing is under way."""
        progress = self._progress
        world, membership = progress.world, progress.membership
        formers = list(range(world.size))
        with membership.lock:
            exchanges = [exchange.tell() for exchange in progress.exchanges]
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
        """Look for requests."""
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
            self.hear_steps(progress.world.rank, self._halt())

    def _first_request(self):
        if self._folder is None or not self._folder.is_dir():
            return None
        files = (path for path in self._folder.iterdir() if path.suffix == ".json")
        return min(files, default=None)

    def _halt(self):
        with self._news:
            self._halted = True
            return self.steps.get(self._last, 0)

    def hear_halt(self):
        """Rank 0 asks how many steps this process has made."""
        self._progress.control.to_one(0, "steps", steps=self._halt())

    def hear_steps(self, rank, steps):
        """A process has made so many steps, and waits at the end of the next one."""
        if self._answers is None:
            return
        self._answers[rank] = steps
        if len(self._answers) == self._progress.world.size:
            after, count = max(self._answers.values()) + 1, self._count
            self._answers = None
            self._progress.control.to_all("admit", after=after, count=count)
            self.hear_admit(after, count)

    def hear_admit(self, after, count):
        """All let so many processes in after a step."""
        with self._news:
            self._halted, self._after, self._count = False, after, count
            self._news.notify_all()
        if self._progress.joining.waits:
            self.end_all_steps()

    def end_all_steps(self):
        """The program makes no more steps for now; others wait for it all the same."""
        if self._after is not None:
            self._progress.begin(self._let_in(), _WHAT)

    def forget(self):
        """Processes have died, or nothing goes on: what was agreed on does not hold."""
        with self._news:
            self._halted, self._after, self._answers = False, None, None
            self._news.notify_all()

    def _let_in(self):
        """Let processes in, as a generator of requests in which all processes take part."""
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
        """Why nobody can join, or None."""
        progress = self._progress
        if "server" in progress.world.roles:
            return "it has servers; start it with -s 0"
        if progress.named_calls.channel is not None:
            return "its processes make calls by name, as those of Horovod do"
        if progress.joining.ranks:
            return "workers have no more data"
        return next(filter(None, (one.obstacle() for one in progress.exchanges)), None)

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
    """How many processes a request is for; 0 if it is none, which is put aside."""
    try:
        count = json.loads(path.read_text(encoding="utf-8"))["count"]
        if isinstance(count, int) and count > 0:
            return count
    except (OSError, ValueError, KeyError, TypeError):
        pass
    path.unlink(missing_ok=True)
    return 0
