"""The workers' side of stores with values on servers."""

import threading

import numpy as np

from mxcy.base import MXNetError
from mxcy.dist.keys.key_lists import common_order
from mxcy.dist.keys.partition import parts, slices
from mxcy.dist.worlds import collectives

__all__ = ["FENCE", "Answers", "KeyClient", "ServedKey"]

FENCE = -1  # a command that does nothing; its answer shows that earlier messages are processed


class ServedKey:
    """A key with its value on servers.

    Attributes
    ----------
    shares : list of (int, int, int, int)
        Number, server, first element and number of elements of each part.
    levels : Levels or None
        Packing of pushes.
    by_rows : bool
        Whether parts consist of every n-th row, n the number of servers, from the first one given.
    """

    def __init__(self, key, shape, dtype, shares, levels=None, by_rows=False):
        self.key, self.shape, self.dtype, self.shares = key, tuple(shape), np.dtype(dtype), shares
        self.levels, self.by_rows = levels, by_rows


class Answers:
    """Counts outstanding answers; a request that is done when all have arrived.

    Parameters
    ----------
    count : int
    on_done : callable, optional
        Called with an error message or None when all have arrived.

    Attributes
    ----------
    failed : str or None
        The first error message.
    """

    def __init__(self, count, on_done=None):
        self._missing, self.failed, self._on_done = count, None, on_done

    def done(self):
        """Whether all have arrived."""
        return not self._missing

    def take(self, error, form=None, body=None):
        """Count an answer."""
        self._missing -= 1
        self.failed = self.failed or error
        if self._on_done is not None and not self._missing:
            self._on_done(self.failed)


class KeyClient:
    """A worker's access to the keys of a store on servers.

    All workers create their clients in the same order and add the same keys.

    Parameters
    ----------
    progress : ProgressThread
    waits : bool
        Whether pushes are synchronous: summed over all workers before they take effect.
    bound : int
        See `parts`.
    most : int, optional
        Elements per slice, if values are split into `slices`.
    among_workers : bool
        Whether the workers are the servers even if there are server processes.

    Attributes
    ----------
    places : list of int
        Places of the servers: server processes, or the workers themselves.
    keys : dict
        The `ServedKey` of each key.
    sent : int
        Bytes pushed so far.
    """

    def __init__(self, progress, waits, bound, most=None, among_workers=False):
        self._progress, self._messenger = progress, progress.messenger
        self._waits, self._bound, self._most = waits, bound, most
        roles = progress.world.roles
        servers = [i for i, role in enumerate(roles) if role == "server"]
        workers = [i for i, role in enumerate(roles) if role == "worker"]
        self.places = workers if among_workers or not servers else servers
        self.number = next(self._messenger.store_numbers)
        self.keys, self._shares = {}, 0
        self.sent = 0

    # -- keys -------------------------------------------------------------------------------------

    def init(self, entries, weights, levels=None):
        """Add keys with rank 0's values, in its order; collective.

        Parameters
        ----------
        entries : list of (key, numpy.ndarray)
        weights : list of str
            The dtypes of the values that servers update; messages have those of the arrays.
        levels : Levels, optional
            Pushes are quantized to these levels and packed; initial values are not.

        Raises
        ------
        MXNetError
            When keys, shapes or dtypes differ between workers, or a server does not answer.
        """
        what = f"init of key {entries[0][0]!r}" if entries else "init"
        self._progress.call(self._enter(entries, weights, levels, what), what)

    def _enter(self, entries, weights, levels, what):
        world = self._progress.world
        layout = [[key, list(array.shape), array.dtype.str] for key, array in entries]
        lists = yield from collectives.gather_texts(world, layout)
        order = common_order(lists, world.rank)
        entries, weights = [entries[i] for i in order], [weights[i] for i in order]
        added = [self._divide(key, array, levels) for key, array in entries]
        failed = None
        if world.rank == 0:
            answers = Answers(sum(len(served.shares) for served in added))
            for served, (_, array), weight in zip(added, entries, weights, strict=True):
                self._put(served, array, weight, answers, what)
            yield answers
            failed = answers.failed
        yield from self._raise_everywhere(failed)
        self.keys.update((served.key, served) for served in added)

    def _raise_everywhere(self, failed):
        """Wait for rank 0 and raise its error, if any, on all ranks."""
        failed = (yield from collectives.gather_texts(self._progress.world, failed))[0]
        if failed:
            raise MXNetError(failed)

    def _divide(self, key, array, levels):
        unit = 1 if levels is None else levels.per_word
        number, servers = key if isinstance(key, int) else len(self.keys), len(self.places)
        if self._most is None:
            places = parts(array.size, number, servers, self._bound, unit)
        else:
            places = slices(array.size, self._most, self._shares, servers)
        shares = [(self._shares + i, *place) for i, place in enumerate(places)]
        self._shares += len(shares)
        return ServedKey(key, array.shape, array.dtype, shares, levels)

    def _put(self, served, array, weight, answers, what):
        flat = array.reshape(-1)
        for number, server, begin, length in served.shares:
            terms = {
                "shape": list(served.shape) if len(served.shares) == 1 else [length],
                "dtype": served.dtype.str,
                "weight": weight,
                "waits": self._waits,
            }
            if served.levels is not None:
                terms["levels"] = [served.levels.kind, float(served.levels.threshold)]
            content = [self.number, number, served.key, terms]
            part = flat[begin : begin + length]
            self._messenger.ask(self.places[server], "put", content, answers.take, what, body=part)

    # -- values -----------------------------------------------------------------------------------

    def push(self, served, array, done, priority=0):
        """Push an array to the servers of a key.

        Parameters
        ----------
        served : ServedKey
        array : numpy.ndarray
            Contiguous.
        done : callable
            Called when `array` is no longer needed.
        priority : int
            Messages with larger priorities go first.
        """
        flat, bodies = array.reshape(-1), []
        for _, server, begin, length in served.shares:
            part = flat[begin : begin + length]
            if served.levels is not None:
                part = served.levels.pack(part)
            bodies.append(self._copied(part, self.places[server]))
        if not any(isinstance(body, np.ndarray) for body in bodies):
            done()
            done = _ignore
        self._progress.submit(lambda: self._push(served, bodies, done, priority))

    def _copied(self, part, place):
        """A copy of a body in a block that its receiver can read; itself if there is none."""
        blocks = self._messenger.world.blocks
        if blocks is None or place not in blocks.readers:
            return part
        block = blocks.take(part.nbytes)
        if block is None:
            return part
        np.copyto(block.array(), part.view(np.uint8))
        return block

    def _push(self, served, bodies, done, priority):
        away = Answers(len(bodies), lambda error: done())
        for (number, server, _, _), body in zip(served.shares, bodies, strict=True):
            self.sent += body.nbytes
            self._messenger.send(
                self.places[server],
                "push",
                [self.number, number, None],
                body,
                priority,
                (self.number, number),
                lambda: away.take(None),
            )

    def pull(self, served, target, on_done, priority=0):
        """Copy a key's value, which includes this worker's pushes, to an array.

        Parameters
        ----------
        served : ServedKey
        target : numpy.ndarray
            Contiguous, of the dtype of messages.
        on_done : callable
            Called with an error message or None.
        priority : int
            Messages with larger priorities go first.
        """
        self._progress.submit(lambda: self._pull(served, target, on_done, priority))

    def _pull(self, served, target, on_done, priority):
        flat = target.reshape(-1)
        answers = Answers(len(served.shares), on_done)
        what = f"the value of key {served.key!r}"
        for number, server, begin, length in served.shares:
            part = flat[begin : begin + length].view(np.uint8)
            self._messenger.ask(
                self.places[server],
                "pull",
                [self.number, number],
                _filling(part, answers),
                what,
                into=part,
                priority=priority,
                line=(self.number, number),
            )

    def command(self, head, text, what, bodies=None, first=True):
        """Send a command to all servers and wait for their answers.

        Parameters
        ----------
        head : int
        text : str
        what : str
            Description for errors.
        bodies : numpy.ndarray or list of numpy.ndarray, optional
            One for all servers, or one for each.
        first : bool
            Whether all workers call this and rank 0 sends the command; else this worker does.

        Returns
        -------
        list of numpy.ndarray of uint8
            The answer of each server.

        Raises
        ------
        MXNetError
            When a server fails or does not answer.
        """
        if first:
            return self._progress.call(self._command_from_first(head, text, what, bodies), what)
        over, answers, contents = threading.Event(), [], []

        def start():
            counter, got = self._send_command(head, text, what, bodies, over.set)
            answers.append(counter)
            contents.append(got)

        self._progress.submit(start)
        over.wait()
        if answers[0].failed:
            raise MXNetError(answers[0].failed)
        return contents[0]

    def _command_from_first(self, head, text, what, bodies):
        failed, contents = None, []
        if self._progress.world.rank == 0:
            answers, contents = self._send_command(head, text, what, bodies)
            yield answers
            failed = answers.failed
        yield from self._raise_everywhere(failed)
        return contents

    def _send_command(self, head, text, what, bodies, over=None):
        contents = [None] * len(self.places)
        answers = Answers(len(self.places), lambda error: over and over())
        for i, place in enumerate(self.places):

            def take(error, form, content, i=i):
                contents[i] = content
                answers.take(error)

            body = bodies[i] if isinstance(bodies, list) else bodies
            self._messenger.ask(place, "command", [self.number, head, text], take, what, body=body)
        return answers, contents

    def note(self, head, text):
        """Send a command to all servers, to take effect before later pushes; do not wait."""
        self._progress.submit(lambda: self._send_command(head, text, "a command", None))

    def settle(self, on_done):
        """Call ``on_done(error)`` when the servers have processed all pushes of this worker."""

        def fence():
            answers = Answers(len(self.places), on_done)
            for place in self.places:
                content = [self.number, FENCE, ""]
                last = float("-inf")
                self._messenger.ask(
                    place, "command", content, answers.take, "settling", priority=last
                )

        self._progress.submit(fence)


def _ignore():
    """The pushed array has been copied."""


def _filling(target, answers):
    def take(error, form, body):
        if error is None and body.ctypes.data != target.ctypes.data:
            np.copyto(target, body)
        answers.take(error)

    return take
