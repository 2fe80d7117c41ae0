"""A pickle interpreter that never exposes unfinished objects.

Python's own unpickler calls and modifies whatever `find_class` returns: classes can become keys,
items and BUILD targets before they are checked. Here a global becomes a `Name`, which only REDUCE
and NEWOBJ accept, and an object awaiting its state is a `Draft`, which only BUILD accepts; neither
can be an item, a key or the result. Persistent references are rejected unless a subclass resolves
them; extension codes and the opcodes of Python 2's old-style classes always are.
"""

import codecs
import pickle
import struct

__all__ = ["Draft", "Machine", "Name", "refuse"]

#: limit on dict keys, which are hashed and must therefore be small and plain
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def refuse(what):
    """Make the error for an invalid pickle."""
    return pickle.UnpicklingError(what)


class Name:
    """A global in a pickle: not a value, but a factory of values.

    Attributes
    ----------
    takes_names : bool
        Whether its arguments may be names.
    """

    __slots__ = ("label",)
    __hash__ = None
    takes_names = False

    def __init__(self, label):
        self.label = label

    def call(self, *arguments):
        """Evaluate ``name(*arguments)``: a value or a `Draft`."""
        raise refuse(f"{self.label} cannot be called")

    def new(self, *arguments):
        """Evaluate ``name.__new__(name, *arguments)``: a value or a `Draft`."""
        raise refuse(f"{self.label} cannot be instantiated by __new__")

    def build(self, instance, state):
        """Set the state of an object that `call` or `new` returned."""
        raise refuse(f"an object of {self.label} has no state")


class Draft:
    """An object awaiting its state.

    Parameters
    ----------
    finish : callable
        Creates the object from the state.
    """

    __slots__ = ("built", "finish", "value")
    __hash__ = None

    def __init__(self, finish):
        self.finish, self.value, self.built = finish, None, False


class _Arguments(list):
    """A tuple with names among its items, valid only as arguments of a call."""


class Machine:
    """Interpreter of one pickle.

    Parameters
    ----------
    data : bytes or mmap.mmap
        Buffer that contains the pickle.
    start : int
        Start of the pickle in `data`.

    Attributes
    ----------
    position : int
        Offset of the current opcode.
    end : int
        Offset of the next byte to read: finally the end of the pickle.
    """

    #: maximum ratio of allocated bytes to bytes of the pickle
    copies = 8

    def __init__(self, data, start=0):
        self._data = data
        self.end = self.position = start
        self._stack, self._marked, self._memo = [], [], {}
        self._makers = {}  # id of an object -> (the object, the name that created it)
        self._budget = self.copies * len(self._data) + 65536

    def find(self, module, name):
        """Resolve a global to a `Name` or a finished value."""
        raise refuse(f"{module}.{name} is not allowed here")

    def persistent(self, reference):
        """Resolve a persistent reference to a finished value.

        The reference may be any value; a tuple may contain a `Name`.
        """
        raise refuse("a persistent reference is not allowed here")

    def spend(self, size):
        """Account for allocated memory, so that a small pickle cannot expand without bound."""
        self._budget -= size
        if self._budget < 0:
            raise refuse(
                f"the content expands to more than {self.copies} times the size of the pickle"
            )

    def run(self):
        """Interpret the pickle and return its value.

        Raises
        ------
        Exception
            Of any type, if the pickle is damaged.
        """
        while True:
            self.position = self.end
            code = self.take(1)
            if code == pickle.STOP:
                break
            if code in _VALUES:
                value = _VALUES[code](self)  # may modify the stack
                self._stack.append(value)
            elif code in _ACTIONS:
                _ACTIONS[code](self)
            else:
                raise refuse(f"opcode {code!r} is not allowed here")
        return _finished(self._stack.pop())

    # --- reading ---

    def take(self, count):
        """Read the next bytes."""
        content = self._data[self.end : self.end + count]
        if len(content) < count:
            raise refuse(f"{count} bytes needed, only {len(content)} left")
        self.end += count
        return content

    def line(self):
        """Read the bytes up to the next line feed."""
        end = self._data.find(b"\n", self.end)
        if end < 0:
            raise refuse("unterminated line")
        content = self._data[self.end : end]
        self.end = end + 1
        return content

    def number(self, form):
        """Read the next number in a `struct` format."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    # --- the stack ---

    def _marked_items(self):
        """Pop the items above the last mark."""
        items, self._stack = self._stack, self._marked.pop()
        return items

    def _mark(self):
        self._marked.append(self._stack)
        self._stack = []

    def _pop_mark(self):
        if self._stack:
            self._stack.pop()
        else:
            self._marked_items()

    def _duplicate(self):
        self._stack.append(self._stack[-1])

    def _top(self, count):
        """Pop the last items."""
        first = len(self._stack) - count
        if first < 0:
            raise refuse(f"{count} items needed, only {len(self._stack)} on the stack")
        items = self._stack[first:]
        del self._stack[first:]
        return items

    # --- containers ---

    def _extend(self, items):
        target = self._stack[-1]
        if type(target) is not list:
            raise refuse(f"items for {_kind(target)}, not a list")
        target.extend(map(_finished, items))

    def _set_items(self, items):
        target = self._stack[-1]
        if not isinstance(target, dict):
            raise refuse(f"items for {_kind(target)}, not a dict")
        if len(items) % 2:
            raise refuse("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[self.key(key)] = _finished(value)

    def _add_items(self, items):
        target = self._stack[-1]
        if type(target) is not set:
            raise refuse(f"items for {_kind(target)}, not a set")
        target.update(map(self.key, items))

    def _dict(self):
        items = self._marked_items()
        self._stack.append({})
        self._set_items(items)

    def key(self, value):
        """Check that a value can be a key; hashing deeply nested ones could take forever."""
        value = _finished(value)
        waiting = [value]
        while waiting:
            part = waiting.pop()
            self.spend(1)
            if isinstance(part, (tuple, frozenset)):
                waiting += part
            elif isinstance(part, int) and part.bit_length() > 64:
                raise refuse("a number of more than 64 bits as a key")
            elif not isinstance(part, _PLAIN) and not self.is_key(part):
                raise refuse(f"{_kind(part)} as a key")
        return value

    def is_key(self, value):
        """Whether an object other than plain data can be a key."""
        return False

    # --- the memo ---

    def _remember(self, index):
        if not self._stack:
            raise refuse("nothing to remember")
        self._memo[index] = self._stack[-1]

    def _recall(self, index):
        if index not in self._memo:
            raise refuse(f"nothing was remembered as {index}")
        return self._memo[index]

    # --- objects ---

    def _global(self):
        module, name = self.line().decode(), self.line().decode()
        return self.find(module, name)

    def _stack_global(self):
        name, module = self._stack.pop(), self._stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise refuse("a name that is not a string")
        self._stack.append(self.find(module, name))

    def _call(self, method):
        arguments, maker = self._stack.pop(), self._stack.pop()
        if not isinstance(maker, Name):
            raise refuse(f"a call of {_kind(maker)}")
        if not isinstance(arguments, (tuple, _Arguments)):
            raise refuse(f"{_kind(arguments)} as arguments of {maker.label}")
        if isinstance(arguments, _Arguments) and not maker.takes_names:
            raise refuse(f"a class as an argument of {maker.label}")
        value = getattr(maker, method)(*arguments)
        self._stack.append(value)

    def made_by(self, name, instance):
        """Record that `name` created an object, so that it can set its state."""
        self._makers[id(instance)] = instance, name
        return instance

    def _resolve(self):
        value = self.persistent(self._stack.pop())
        self._stack.append(value)

    def _new_with_keywords(self):
        if self._stack.pop() != {}:
            raise refuse("keyword arguments of an object")
        self._call("new")

    def _build(self):
        state = _finished(self._stack.pop())
        target = self._stack[-1]
        if isinstance(target, Draft):
            if target.built:
                raise refuse("a second state of one object")
            target.value, target.built = target.finish(state), True
            self._stack[-1] = target.value
            return
        _, maker = self._makers.get(id(target), (None, None))
        if maker is None:
            raise refuse(f"a state for {_kind(target)}")
        maker.build(target, state)


def _finished(value):
    """Check that a stack item is a finished value and return it."""
    if isinstance(value, Draft):
        if not value.built:
            raise refuse("an object without its state")
        return value.value
    if isinstance(value, Name):
        raise refuse(f"{value.label} where a value belongs")
    if isinstance(value, _Arguments):
        raise refuse("a tuple with a class")
    return value


def _tuple_of(items):
    if any(isinstance(item, (Name, _Arguments)) for item in items):
        return _Arguments(items)
    return tuple(map(_finished, items))


def _kind(value):
    return value.label if isinstance(value, Name) else f"a value of type {type(value).__name__}"


def _python_2_bytes(machine):
    """A quoted string; Python 2 wrote bytes so, which are text of Latin-1 here."""
    content = machine.line().strip()
    if len(content) < 2 or content[0] not in b"'\"" or content[0] != content[-1]:
        raise refuse("a string without quotes")
    return codecs.escape_decode(content[1:-1])[0].decode("latin1")


def _integer_line(machine):
    text = machine.line()
    return {b"00": False, b"01": True}.get(text) if text in (b"00", b"01") else int(text)


def _signed(machine, form):
    return int.from_bytes(machine.take(machine.number(form)), "little", signed=True)


def _text(machine, form):
    return machine.take(machine.number(form)).decode("utf-8", "surrogatepass")


def _frozenset(machine):
    return frozenset(map(machine.key, machine._marked_items()))


_VALUES = {
    pickle.NONE: lambda machine: None,
    pickle.NEWTRUE: lambda machine: True,
    pickle.NEWFALSE: lambda machine: False,
    pickle.EMPTY_TUPLE: lambda machine: (),
    pickle.EMPTY_LIST: lambda machine: [],
    pickle.EMPTY_DICT: lambda machine: {},
    pickle.EMPTY_SET: lambda machine: set(),
    pickle.INT: _integer_line,
    pickle.LONG: lambda machine: int(machine.line().rstrip(b"L")),
    pickle.FLOAT: lambda machine: float(machine.line()),
    pickle.BININT: lambda machine: machine.number("<i"),
    pickle.BININT1: lambda machine: machine.number("<B"),
    pickle.BININT2: lambda machine: machine.number("<H"),
    pickle.LONG1: lambda machine: _signed(machine, "<B"),
    pickle.LONG4: lambda machine: _signed(machine, "<I"),
    pickle.BINFLOAT: lambda machine: machine.number(">d"),
    pickle.STRING: _python_2_bytes,
    pickle.BINSTRING: lambda machine: machine.take(machine.number("<I")).decode("latin1"),
    pickle.SHORT_BINSTRING: lambda machine: machine.take(machine.number("<B")).decode("latin1"),
    pickle.UNICODE: lambda machine: machine.line().decode("raw-unicode-escape"),
    pickle.SHORT_BINUNICODE: lambda machine: _text(machine, "<B"),
    pickle.BINUNICODE: lambda machine: _text(machine, "<I"),
    pickle.BINUNICODE8: lambda machine: _text(machine, "<Q"),
    pickle.SHORT_BINBYTES: lambda machine: machine.take(machine.number("<B")),
    pickle.BINBYTES: lambda machine: machine.take(machine.number("<I")),
    pickle.BINBYTES8: lambda machine: machine.take(machine.number("<Q")),
    pickle.BYTEARRAY8: lambda machine: bytearray(machine.take(machine.number("<Q"))),
    pickle.TUPLE1: lambda machine: _tuple_of(machine._top(1)),
    pickle.TUPLE2: lambda machine: _tuple_of(machine._top(2)),
    pickle.TUPLE3: lambda machine: _tuple_of(machine._top(3)),
    pickle.TUPLE: lambda machine: _tuple_of(machine._marked_items()),
    pickle.LIST: lambda machine: [_finished(item) for item in machine._marked_items()],
    pickle.FROZENSET: _frozenset,
    pickle.GET: lambda machine: machine._recall(int(machine.line())),
    pickle.BINGET: lambda machine: machine._recall(machine.number("<B")),
    pickle.LONG_BINGET: lambda machine: machine._recall(machine.number("<I")),
    pickle.GLOBAL: lambda machine: machine._global(),
}
_ACTIONS = {
    pickle.PROTO: lambda machine: machine.take(1),
    pickle.FRAME: lambda machine: machine.take(8),
    pickle.MARK: Machine._mark,
    pickle.POP_MARK: Machine._marked_items,
    pickle.POP: Machine._pop_mark,
    pickle.DUP: Machine._duplicate,
    pickle.DICT: Machine._dict,
    pickle.APPEND: lambda machine: machine._extend([machine._stack.pop()]),
    pickle.APPENDS: lambda machine: machine._extend(machine._marked_items()),
    pickle.SETITEM: lambda machine: machine._set_items(machine._top(2)),
    pickle.SETITEMS: lambda machine: machine._set_items(machine._marked_items()),
    pickle.ADDITEMS: lambda machine: machine._add_items(machine._marked_items()),
    pickle.PUT: lambda machine: machine._remember(int(machine.line())),
    pickle.BINPUT: lambda machine: machine._remember(machine.number("<B")),
    pickle.LONG_BINPUT: lambda machine: machine._remember(machine.number("<I")),
    pickle.MEMOIZE: lambda machine: machine._remember(len(machine._memo)),
    pickle.STACK_GLOBAL: Machine._stack_global,
    pickle.REDUCE: lambda machine: machine._call("call"),
    pickle.NEWOBJ: lambda machine: machine._call("new"),
    pickle.NEWOBJ_EX: Machine._new_with_keywords,
    pickle.BUILD: Machine._build,
    pickle.BINPERSID: Machine._resolve,
}
