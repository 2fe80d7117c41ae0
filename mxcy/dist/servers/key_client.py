"""The worker's side of stores whose values lie on servers."""

import threading

import numpy as np

from mxcy.base import MXNetError
from mxcy.dist.keys.key_lists import compare_keys
from mxcy.dist.keys.partition import parts, slices
from mxcy.dist.worlds import collectives

__all__ = ["NOTHING", "Answers", "KeyClient", "ServedKey"]

NOTHING = -1  # a command that tells that those before it are done


class ServedKey:
    """A key whose value lies on servers.

    Attributes
    ----------
    shares : list of (int, int, int, int)
        The number of each part, the server, the first element, and how many there are.
    levels : Levels or None
        How pushes are packed.
    by_rows : bool
        Whether parts are every so many-th row, from the first one that is told.
    """

    def __init__(self, key, shape, dtype, shares, levels=None, by_rows=False):
        self.key, self.shape, self.dtype, self.shares = key, tuple(shape), np.dtype(dtype), shares
        self.levels, self.by_rows = levels, by_rows


class Answers:
    """Answers that are waited for: a request of an agreement, and who is told when all are there.

    Parameters
    ----------
    count : int
    on_done : callable, optional
        Gets the text of an error, or None.

    Attributes
    ----------
    failed : str or None
        The first error.
    """

    def __init__(self, count, on_done=None):
        self._missing, self.failed, self._on_done = count, None, on_done

    def done(self):
        """Whether all have come."""
        return not self._missing

    def take(self, error, form=None, body=None):
        """One has come."""
        self._missing -= 1
        self.failed = self.failed or error
        if self._on_done is not None and not self._missing:
            self._on_done(self.failed)


class KeyClient:
    """The keys of a store on servers.

    All workers make their clients in the same order, and put the same keys into them.

    Parameters
    ----------
    progress : ProgressThread
    waits : bool
        Whether each push is part of a sum of all workers' pushes.
    bound : int
        See `parts`.
    most : int, optional
        Elements of a slice; then values are cut into `slices`.
    among_workers : bool
        The servers are the workers, whatever other processes there are.

    Attributes
    ----------
    places : list of int
        Of the servers: processes of that role, or the workers themselves.
    keys : dict
        The `ServedKey` of each key.
    sent : int
        Bytes of what has been pushed.
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
        """Put in new keys with the first worker's values; all workers do.

        Parameters
        ----------
        entries : list of (key, numpy.ndarray)
        weights : list of str
            The dtypes of what servers update, which travels in those of the arrays.
        levels : Levels, optional
            What is pushed has a few levels only, and goes as bits; the first values do not.

        Raises
        ------
        MXNetError
            When the workers' keys, shapes or dtypes differ, or a server does not answer.
        """
        what = f"init of key {entries[0][0]!r}" if entries else "init"
        self._progress.call(self._enter(entries, weights, levels, what), what)

    def _enter(self, entries, weights, levels, what):
        world = self._progress.world
        mine = [[key, list(array.shape), array.dtype.str] for key, array in entries]
        lists = yield from collectives.gather_texts(world, mine)
        compare_keys(lists)
        added = [self._divide(key, array, levels) for key, array in entries]
        failed = None
        if world.rank == 0:
            answers = Answers(sum(len(served.shares) for served in added))
            for served, (_, array), weight in zip(added, entries, weights, strict=True):
                self._put(served, array, weight, answers, what)
            yield answers
            failed = answers.failed
        yield from self._all_right(failed)
        self.keys.update((served.key, served) for served in added)

    def _all_right(self, failed):
        """Wait until the first worker has done something, and raise its error in all of them."""
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
        """Send an array to the servers of a key.

        Parameters
        ----------
        served : ServedKey
        array : numpy.ndarray
            Contiguous.
        done : callable
            Called when `array` is not needed any more.
        priority : int
            Larger ones go first.
        """
        self._progress.submit(lambda: self._push(served, array, done, priority))

    def _push(self, served, array, done, priority):
        flat = array.reshape(-1)
        away = Answers(len(served.shares), lambda error: done())
        for number, server, begin, length in served.shares:
            part = flat[begin : begin + length]
            if served.levels is not None:
                part = served.levels.pack(part)
            self.sent += part.nbytes
            self._messenger.send(
                self.places[server],
                "push",
                [self.number, number, None],
                part,
                priority,
                (self.number, number),
                lambda: away.take(None),
            )

    def pull(self, served, target, on_done, priority=0):
        """Fill an array with a key's value, which has in it what this worker has pushed.

        Parameters
        ----------
        served : ServedKey
        target : numpy.ndarray
            Contiguous, of the dtype in which values travel.
        on_done : callable
            Gets the text of an error, or None.
        priority : int
            Larger ones go first.
        """
        self._progress.submit(lambda: self._pull(served, target, on_done, priority))

    def _pull(self, served, target, on_done, priority):
        flat = target.reshape(-1)
        answers = Answers(len(served.shares), on_done)
        what = f"the value of key {served.key!r}"
        for number, server, begin, length in served.shares:
            self._messenger.ask(
                self.places[server],
                "pull",
                [self.number, number, None],
                _filling(flat[begin : begin + length], answers),
                what,
                priority=priority,
                line=(self.number, number),
            )

    def command(self, head, text, what, bodies=None, first=True):
        """Have all servers do something, and wait until they have.

        Parameters
        ----------
        head : int
        text : str
        what : str
            For errors.
        bodies : numpy.ndarray or list of numpy.ndarray, optional
            For all servers, or for each.
        first : bool
            All workers call this, and the first one commands; otherwise this one does.

        Returns
        -------
        list of numpy.ndarray of uint8
            What each server answers.

        Raises
        ------
        MXNetError
            When a server cannot do it, or does not answer.
        """
        if first:
            return self._progress.call(self._command_together(head, text, what, bodies), what)
        over, answers, contents = threading.Event(), [], []

        def start():
            made, got = self._commanding(head, text, what, bodies, over.set)
            answers.append(made)
            contents.append(got)

        self._progress.submit(start)
        over.wait()
        if answers[0].failed:
            raise MXNetError(answers[0].failed)
        return contents[0]

    def _command_together(self, head, text, what, bodies):
        failed, contents = None, []
        if self._progress.world.rank == 0:
            answers, contents = self._commanding(head, text, what, bodies)
            yield answers
            failed = answers.failed
        yield from self._all_right(failed)
        return contents

    def _commanding(self, head, text, what, bodies, over=None):
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
        """Have all servers do something before they get what is pushed from now on."""
        self._progress.submit(lambda: self._commanding(head, text, "a command", None))

    def settle(self, on_done):
        """Have ``on_done(error)`` called when servers have all that this worker has pushed."""

        def fence():
            answers = Answers(len(self.places), on_done)
            for place in self.places:
                content = [self.number, NOTHING, ""]
                last = float("-inf")
                self._messenger.ask(
                    place, "command", content, answers.take, "settling", priority=last
                )

        self._progress.submit(fence)


def _filling(target, answers):
    def take(error, form, body):
        if error is None:
            np.copyto(target, body.view(target.dtype))
        answers.take(error)

    return take
