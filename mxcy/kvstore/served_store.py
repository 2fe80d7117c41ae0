"""Stores with values on servers: asynchronous updates, or prioritized sums of slices."""

from mxcy import ndarray as nd
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist.servers.key_client import KeyClient
from mxcy.kvstore.dist_store import DistStore
from mxcy.kvstore.engine_calls import SUM_DTYPES, Once, complete, operation, window
from mxcy.kvstore.optimizer_settings import agree
from mxcy.kvstore.remote_updater import HostedUpdater, RemoteUpdater
from mxcy.kvstore.server_rules import OPTIMIZER, packed
from mxcy.kvstore.shared import SharedKey, name_of
from mxcy.kvstore.shared_rows import SharedRows, host_server

__all__ = ["ServedStore"]


class _Described:
    """Local description of a value held by servers."""

    def __init__(self, value):
        self.shape, self.dtype, self.stype = value.shape, value.dtype, value.stype
        self.context = cpu()


class ServedStore(DistStore):
    """Holds values on servers, which are processes or threads of the workers.

    In an asynchronous store the optimizer updates a value at each push. In the other, with slices,
    values are the sums of all workers' pushes.

    Parameters
    ----------
    kind : str
        Type of the store, containing 'dist'.
    slices : int, optional
        Number of elements per slice of a sum; None makes the store asynchronous.
    """

    def __init__(self, kind, slices=None):
        super().__init__(kind)
        self._sums_up, self._levels = slices is not None, None
        self._client = KeyClient(self._progress, self._sums_up, self._bound, slices)
        self._hosts = "server" not in self._progress.world.roles
        if self._hosts:
            self._progress.submit(lambda: host_server(self._progress, self.rank))

    # -- keys -------------------------------------------------------------------------------------

    def init_all(self, pairs, still=()):
        """Initialize new keys with the first worker's values; all workers call it."""
        known = dict.fromkeys(self._values)
        for key, value in pairs:
            self._check_new(key, known)
            known[key] = None
            if value.stype != "default" and self._sums_up:
                raise MXNetError(
                    f"key {key!r}: with DMLC_PS_VAN_TYPE=p3 a store takes dense values only, not "
                    f"{value.stype!r}"
                )
        self._init_dense([(key, value) for key, value in pairs if value.stype == "default"])
        self._init_rows([(key, value) for key, value in pairs if value.stype != "default"])

    def _init_dense(self, pairs):
        entries, weights = [], []
        for key, value in pairs:
            weights.append(name_of(value.dtype))
            sum_dtype = SUM_DTYPES.get(weights[-1], weights[-1])
            entries.append((key, value.as_nd_ndarray().astype(sum_dtype).asnumpy()))
        self._client.init(entries, weights, self._levels)
        for (key, value), (_, array) in zip(pairs, entries, strict=True):
            self._put(key, _Described(value))
            exchange = self.exchange if self._levels is None else None
            self.shared[key] = SharedKey(array.dtype.name, same_dtype=False, exchange=exchange)

    def _init_rows(self, pairs):
        if not pairs:
            return
        if self._rows is None:
            self._rows = SharedRows(self._progress, waits=False, among_workers=False)
            if isinstance(self.updater, RemoteUpdater):
                self.updater.take_over(self._rows.client)
            elif self.updater is not None:
                self._host(self._rows.client, self.updater.function)
        self._rows.init(pairs)
        for key, value in pairs:
            self._put(key, _Described(value))

    def _compress(self, levels):
        self._levels = levels

    def _rounded(self, key, total):
        if self.shared[key].exchange is self.exchange:
            return total
        self._check_float32(key)
        return self._compression(key, 0, total)

    # -- values -----------------------------------------------------------------------------------

    def push(self, key, arrays, priority=0):
        """Send arrays to the servers."""
        self._value(key)
        if self.updater is None and not self._sums_up:
            raise MXNetError(
                f"a store of type {self.type!r} updates values with an optimizer: call "
                "set_optimizer "
                "before the first push"
            )
        if self._rows is not None and key in self._rows:
            self.updater.send_changes()
            super().push(key, arrays, priority)
            return
        shared, total = self.shared[key], self._rounded(key, self._total(key, arrays))
        if self.updater is not None:
            self.updater.send_changes()

        name, sent = f"KVStore.push({key!r})", Once()

        def start():
            served, content = self._client.keys[key], window(total).numpy_view()
            self._client.push(served, content, sent.happen, priority)

        # Pulls of the key may follow at once, but the array must not change before it is sent.
        operation(start, [total], [shared.var], name, "normal", priority)
        operation(sent.tell, [total], [], f"{name}, sending", "async", priority)

    def pull(self, key, arrays, priority=0):
        """Fetch a value, which includes this worker's pushes."""
        value = self._value(key)
        if self._rows is not None and key in self._rows:
            super().pull(key, arrays, priority)
            return
        self._check_outs(key, arrays, value)
        if not arrays:
            return
        targets, shared = [window(array.detach()) for array in arrays], self.shared[key]
        name, first = f"KVStore.pull({key!r})", targets[0]
        if first.context.device_type == "gpu" or name_of(first.dtype) != shared.sum_dtype:
            first = nd.empty(value.shape, cpu(), shared.sum_dtype)
        others = [target for target in targets if target is not first]

        def start(completion):
            def take(error):
                spread(completion, error)

            self._client.pull(self._client.keys[key], first.numpy_view(), take, priority)

        def spread(completion, error):
            try:
                if error:
                    raise MXNetError(error)
                for target in others:
                    first.copyto(target)
            except Exception as failure:
                completion(str(failure))
                return
            if not others:
                completion()
                return
            operation(lambda: complete(completion, others), others, [], name, "noskip")

        operation(start, [shared.var], list(arrays), name, "async", priority)
        for array in arrays:
            array.touch()

    def push_and_pull(self, keys, values, outs, priority=0):
        """Do nothing: keys are processed one by one."""
        return None

    def join(self):
        """Wait for all workers; sums on servers need all of them."""
        if self._sums_up:
            raise MXNetError("join: with DMLC_PS_VAN_TYPE=p3, sums need all workers")
        self.settle()
        self.barrier()
        return 0

    def settle(self):
        """Wait until servers have received all pushes of this worker."""
        if not self.shared and self._rows is None:
            return
        over = front.Var()

        def start(completion):
            self._client.settle(lambda error: completion(error) if error else completion())

        reads = [shared.var for shared in self.shared.values()]
        operation(start, reads, [over], "KVStore.settle", "async")
        over.wait_to_read()

    # -- the optimizer ----------------------------------------------------------------------------

    @property
    def updater(self):
        """RemoteUpdater, HostedUpdater or None: updates the values."""
        return self._updater

    @updater.setter
    def updater(self, updater):
        if updater is None or isinstance(updater, RemoteUpdater):
            self._updater = updater
            return
        if not self._hosts:
            raise MXNetError(
                f"a store of type {self.type!r} updates values in server processes, which cannot "
                "run a worker's functions: use set_optimizer, or start the job with -s 0"
            )
        self._updater = HostedUpdater(updater)
        for client in self._clients():
            self._host(client, updater)

    def _clients(self):
        return [self._client] if self._rows is None else [self._client, self._rows.client]

    def _host(self, client, updater):
        """Let the server thread of this process update a client's values by a function."""
        messenger = self._progress.messenger
        self._progress.submit(lambda: messenger.server.rules.set_updater(client.number, updater))

    def check_states(self):
        """Allow saving states: servers send them."""

    def updater_of(self, optimizer, before):
        """Send the first worker's optimizer to the servers, which keep states of the same class."""
        self.settle()
        optimizer = self._progress.call(agree(self._progress.world, optimizer), "set_optimizer()")
        for client in self._clients():
            client.command(OPTIMIZER, "", "set_optimizer()", packed(optimizer))
        return RemoteUpdater(self._clients(), self.rank, optimizer)

    def send_command(self, head, body):
        """Send a command to all servers."""
        self._client.command(head, body, f"command {head}", first=False)

    def stats(self):
        """Statistics of sums, and the partition of values; see `KVStore.stats`."""
        return {
            **super().stats(),
            "partition": {
                key: [share[1:] for share in served.shares]
                for key, served in self._client.keys.items()
            },
            "pushed_bytes": sum(client.sent for client in self._clients()),
        }
