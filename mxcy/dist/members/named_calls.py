"""Calls in which processes meet by name, in whatever order each comes to them.

A process tells rank 0 of a call that it is ready for; when all are, rank 0 tells everybody to go,
and so all make the calls in the order of rank 0's messages.
"""

from collections import deque

__all__ = ["NamedCalls"]


class _Call:
    """A call of this process."""

    def __init__(self, name, terms, make_steps, done):
        self.name, self.terms, self.make_steps, self.done = name, terms, make_steps, done
        self.steps = self.request = None


class NamedCalls:
    """The calls by name of this process.

    Parameters
    ----------
    progress : ProgressThread
    """

    def __init__(self, progress):
        self._progress = progress
        self._mine = {}  # name -> calls that wait for the others, in order
        self._ready = {}  # of rank 0: name -> for each rank its terms, in order
        self._going = []
        self.channel = None

    def open(self):
        """Make the channel; a generator in which all processes take part."""
        if self.channel is None:
            self.channel = self._progress.world.new_channel()
        yield from ()

    # -- for other threads ------------------------------------------------------------------------

    def call(self, name, terms, make_steps, done):
        """Make a call once all processes are ready for one of that name.

        Parameters
        ----------
        name : str
        terms : object
            What JSON can tell of the call; all processes' terms go to `make_steps`.
        make_steps : callable
            ``make_steps(channel, terms_of_all)`` gives a generator of one request: the calls of
            several named calls are under way at once. It raises for terms that do not go together.
        done : callable
            ``done(error, value)`` on the progress thread: a text or None, and the generator's
            result.
        """
        call = _Call(name, terms, make_steps, done)
        self._progress.submit(lambda: self._tell(call))

    # -- the progress thread ---------------------------------------------------------------------

    def _tell(self, call):
        self._mine.setdefault(call.name, deque()).append(call)
        world, control = self._progress.world, self._progress.control
        if world.rank == 0:
            self.on_ready(0, call.name, call.terms)
        else:
            control.to_one(0, "ready", name=call.name, terms=call.terms)
        self.check_left()

    def on_ready(self, rank, name, terms):
        """On rank 0: a process is ready for a call."""
        world = self._progress.world
        ready = self._ready.setdefault(name, [deque() for _ in range(world.size)])
        ready[rank].append(terms)
        while all(ready):
            together = [queue.popleft() for queue in ready]
            self._progress.control.to_all("go", name=name, terms=together)
            self.on_go(name, together)
        if not any(ready):
            del self._ready[name]

    def on_go(self, name, terms):
        """All are ready for a call."""
        call = self._mine[name].popleft()
        if not self._mine[name]:
            del self._mine[name]
        call.terms = terms
        self._going.append(call)

    def step(self):
        """Carry calls on; whether something moved, and whether something is under way."""
        moved = False
        for call in list(self._going):
            if call.request is None or call.request.done():
                self._resume(call)
                moved = True
        return moved, bool(self._going or self._mine)

    def _resume(self, call):
        try:
            if call.steps is None:
                call.steps = call.make_steps(self.channel, call.terms)
            call.request = next(call.steps)
            return
        except StopIteration as end:
            error, value = None, end.value
        except Exception as failure:
            error, value = str(failure), None
        self._going.remove(call)
        call.done(error, value)

    def check_left(self):
        """Give up calls for which processes that have left were not ready."""
        left = self._progress.control.left
        if not left:
            return
        names = ", ".join(self._progress.control.name(rank) for rank in sorted(left))
        self.fail(f"{names} left the job")

    def fail_waiting(self, text):
        """No call that waits, or is under way, will be made."""
        going, self._going, self._ready = self._going, [], {}
        for call in going:
            call.done(f"{text}, in {call.name!r}", None)
        self.fail(text)

    def fail(self, text):
        """No call that waits will be made."""
        waiting, self._mine = self._mine, {}
        for calls in waiting.values():
            for call in calls:
                call.done(f"{text}; {call.name!r} waits for all workers", None)
