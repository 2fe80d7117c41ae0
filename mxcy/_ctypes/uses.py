"""What an operation reads and writes, and the two ways to have it in its turn: hold or push.

See `_cy/uses.pyx`.
"""

import ctypes

from mxcy._base.errors import MXNetError, caller, kernel_error, stored_text
from mxcy._ctypes.engine import READS, WRITES, Operation, is_naive, raise_stored
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.engine import pending as unlocked
from mxcy._ctypes.native import lib
from mxcy._ctypes.pending import counts, forget, keep, settle, wait
from mxcy._ctypes.services import services
from mxcy._ctypes.storage import Storage

__all__ = ["Uses", "held", "is_heavy", "set_heavy_work"]

_COPY_FROM, _COPY_TO = 1, 2
_SMALL_BYTES = 500  # NumPy keeps the GIL for smaller arrays


class _Limits:
    heavy_work = 4000000  # in elementwise steps


def set_heavy_work(work):
    """Set the work, in elementwise steps, from which calls are pushed to the engine."""
    _Limits.heavy_work = work


def is_heavy(work):
    """Whether a call is worth a worker's attention."""
    return work >= _Limits.heavy_work


def _prepare():
    """Tell ctypes the types of mxcy_operations.h."""
    address, number = ctypes.c_void_p, ctypes.c_int32
    locked.mx_push_kernel.argtypes = [address, address, address, ctypes.c_size_t, address, number]
    locked.mx_push_plan.argtypes = [
        address,
        address,
        number,
        number,
        address,
        number,
        address,
        address,
        address,
    ]
    locked.mx_push_copy.argtypes = [address, address, address, ctypes.c_size_t]
    locked.mx_push_nothing.argtypes = [address]


_prepare()


class Uses:
    """The storages that an operation reads and writes."""

    def __init__(self, context):
        self.vars, self.access, self.kept = [], [], []
        self.allocates, self.quiet, self.exported, self.device = False, True, False, False
        self.strict, self.nested = is_naive(), False  # nested: in an operation that holds them
        self.context, self.target = context, None

    def add(self, storage, access):
        """Add a use of a storage."""
        self.quiet = self.quiet and storage.is_quiet()
        self.exported = self.exported or storage.exported
        self.device = self.device or storage.device
        if access & WRITES and not storage.begun:
            storage.begun = storage.counted = self.allocates = True
            counts.bytes += storage.size
        self.kept.append(storage)
        storage.uses += 1
        self.add_var(storage.var_of(), access)

    def __del__(self):
        for storage in self.kept:
            if type(storage) is Storage:
                storage.uses -= 1
                if storage.counted and not storage.uses:
                    storage.counted = False
                    counts.bytes -= storage.size

    def add_var(self, var, access):
        """Add a use of an engine variable."""
        self.vars.append(var)
        self.access.append(access)

    def add_output(self, array):
        """Add an array as output."""
        storage = array._storage
        overwrites = array._memory.nbytes >= storage.size
        self.target = array.context
        self.add(storage, WRITES if overwrites else READS | WRITES)

    def _native(self):
        n = len(self.vars)
        return (ctypes.c_void_p * n)(*self.vars), (ctypes.c_int32 * n)(*self.access), n

    def hold(self):
        """Wait for and hold all storages; False if an input has an error."""
        status, self.nested = 1, bool(locked.mx_engine_on_worker())
        self.strict = self.strict or self.nested
        while status == 1:
            for var, access in zip(self.vars, self.access, strict=True):
                settle(var, WRITES if access & WRITES else READS)
            for var, access in zip(self.vars, self.access, strict=True):
                if access & READS and locked.mx_var_failed(var):
                    return False
            if self.nested:
                return True
            status = locked.mx_engine_enter(*self._native(), 0)
        return status == 0

    def raise_error(self):
        """Raise the error of an input, after `hold` returned False; the input keeps it."""
        if unlocked.mx_engine_enter(*self._native(), -1) < 0:
            raise_stored()
        self.release()
        raise MXNetError("an operation lost its inputs to another thread")

    def release(self):
        """End a hold."""
        if not self.nested:
            locked.mx_engine_leave(*self._native(), None)

    def fail(self, error):
        """End a hold by an error: raised here, or by whoever waits for what was to be written."""
        if self.strict:
            self.release()
            raise error
        locked.mx_engine_leave(*self._native(), stored_text(error).encode())

    def run_reference(self, call, attrs, inputs, outputs):
        """Run a call by its definition in a hold, and end the hold."""
        try:
            services.run_reference(call, attrs, inputs, outputs)
        except (MXNetError, IndexError) as error:
            self.fail(error)
        except BaseException:
            self.release()
            raise
        else:
            self.release()

    def push(self, name, function, *arguments):
        """Push an operation by one of the functions of mxcy_operations.h."""
        source, target = self.context, self.target
        about = Operation()
        if target is not None and target != source:
            if target.device_type == "gpu":
                source, about.property = target, _COPY_TO
            elif source.device_type == "gpu":
                about.property = _COPY_FROM
        about.device_type, about.device_id = source.device_typeid, source.device_id
        vars, access, about.nvars = self._native()
        about.vars, about.access = ctypes.addressof(vars), ctypes.addressof(access)
        about.name, about.place = name and name.encode(), caller().encode()
        written = [v for v, a in zip(self.vars, self.access, strict=True) if a & WRITES]
        about.token = keep(self, written[-1] if written else None, self.allocates)
        if function(ctypes.byref(about), *arguments) != 0:
            error = kernel_error("", lib.mx_last_error().decode())
            forget(about.token)
            raise error

    def hand_on(self):
        """Propagate the inputs' error to the outputs, after `hold` returned False."""
        if self.strict:
            self.raise_error()
        self.push(None, locked.mx_push_nothing)


class held:
    """Hold arrays while NumPy uses their memory; see `_cy/uses.pyx`."""

    def __init__(self, reads=(), writes=(), whole=False):
        self._uses = None
        if all(a._storage.is_quiet() and a._memory.nbytes < _SMALL_BYTES for a in reads + writes):
            return
        self._uses = uses = Uses(None)
        for array in reads:
            uses.add(array._storage, READS)
        for array in writes:
            if whole:
                uses.add_output(array)
            else:
                uses.add(array._storage, READS | WRITES)

    def __enter__(self):
        if self._uses is None or self._uses.hold():
            return
        for var, access in zip(self._uses.vars, self._uses.access, strict=True):
            if access == READS:
                wait(var, READS)
        if not self._uses.hold():
            self._uses.raise_error()

    def __exit__(self, *error):
        if self._uses is not None:
            self._uses.release()
