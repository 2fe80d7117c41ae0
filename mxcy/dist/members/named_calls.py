"""Collectives matched by name, in whichever order ranks call them.

A rank reports to rank 0 which call it is ready for. When all ranks are, rank 0 broadcasts a start
message, so all ranks run the calls in the order of these messages.
"""

from collections import deque

__all__ = ["NamedCalls"]


class _Call:
    """A call of this rank."""

    def __init__(self, name, parameters, make_steps, done):
        self.name, self.parameters, self.make_steps, self.done = name, parameters, make_steps, done
        self.steps = self.request = None


class NamedCalls:
    """Named collectives of this rank.

    Parameters
    ----------
    progress : ProgressThread
    """

    def __init__(self, progress):
        self._progress = progress
        self._waiting = {}  # name -> calls that wait for other ranks, in order
        self._ready = {}  # rank 0: name -> queue of parameters by rank
        self._running = []
        self.channel = None

    def open(self):
        """Create the channel; a collective generator."""
        if self.channel is None:
            self.channel = self._progress.world.new_channel()
        yield from ()

    # -- called by other threads -------------------------------------------------------------------

    def call(self, name, parameters, make_steps, done):
        """Run a call once all ranks are ready for one of that name.

        Parameters
        ----------
        name : str
        parameters : object
            Parameters of the call as JSON values; `make_steps` gets those of all ranks.
        make_steps : callable
            ``make_steps(channel, all_parameters)`` returns a generator of one request; several
            named calls may be in flight. It raises for parameters that do not match.
        done : callable
            ``done(error, value)``, called on the progress thread with an error message or None and
            the generator's result.
        """
        call = _Call(name, parameters, make_steps, done)
        self._progress.submit(lambda: self._announce(call))

    # -- on the progress thread --------------------------------------------------------------------

    def _announce(self, call):
        self._waiting.setdefault(call.name, deque()).append(call)
        world, control = self._progress.world, self._progress.control
        if world.rank == 0:
            self.on_ready(0, call.name, call.parameters)
        else:
            control.to_one(0, "ready", name=call.name, parameters=call.parameters)
        self.check_left()

    def on_ready(self, rank, name, parameters):
        """Rank 0: a rank is ready for a call; start it when all are."""
        world = self._progress.world
        ready = self._ready.setdefault(name, [deque() for _ in range(world.size)])
        ready[rank].append(parameters)
        while all(ready):
            together = [queue.popleft() for queue in ready]
            self._progress.control.to_all("go", name=name, parameters=together)
            self.on_go(name, together)
        if not any(ready):
            del self._ready[name]

    def on_go(self, name, parameters):
        """Start a call for which all ranks are ready."""
        call = self._waiting[name].popleft()
        if not self._waiting[name]:
            del self._waiting[name]
        call.parameters = parameters
        self._running.append(call)

    def step(self):
        """Advance calls; return whether any did, and whether any is unfinished."""
        moved = False
        for call in list(self._running):
            if call.request is None or call.request.done():
                self._resume(call)
                moved = True
        return moved, bool(self._running or self._waiting)

    def _resume(self, call):
        try:
            if call.steps is None:
                call.steps = call.make_steps(self.channel, call.parameters)
            call.request = next(call.steps)
            return
        except StopIteration as end:
            error, value = None, end.value
        except Exception as failure:
            error, value = str(failure), None
        self._running.remove(call)
        call.done(error, value)

    def check_left(self):
        """Fail waiting calls if ranks have left."""
        left = self._progress.control.left
        if not left:
            return
        names = ", ".join(self._progress.control.name(rank) for rank in sorted(left))
        self.fail(f"{names} left the job")

    def fail_waiting(self, text):
        """Fail all calls, waiting or in flight."""
        going, self._running, self._ready = self._running, [], {}
        for call in going:
            call.done(f"{text}, in {call.name!r}", None)
        self.fail(text)

    def fail(self, text):
        """Fail all waiting calls."""
        waiting, self._waiting = self._waiting, {}
        for calls in waiting.values():
            for call in calls:
                call.done(f"{text}; {call.name!r} waits for all workers", None)
