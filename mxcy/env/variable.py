"""One row of the table of environment variables."""

from collections.abc import Callable
from typing import Any

from mxcy._base.errors import MXNetError
from mxcy.env.kinds import Kind

__all__ = ["EnvError", "Variable"]


class EnvError(MXNetError, ValueError):
    """An environment variable holds a value that mxcy does not accept."""

    def __init__(self, *args: object):
        RuntimeError.__init__(self, *args)  # without what variables add to the text


class Condition:
    """Why variables do nothing on this machine, which a module above the table knows.

    Attributes
    ----------
    ask : callable
        ``ask() -> str``, "" where the variables work. The module that knows sets it.
    """

    def __init__(self) -> None:
        self.ask: Callable[[], str] = lambda: ""

    def __call__(self) -> str:
        return self.ask()


class Variable:
    """A variable: its type, its default, when it is read, by whom, and what for.

    Parameters
    ----------
    name : str
        The documented name; `aliases` are accepted too, and `name` wins over them.
    kind : Kind
        Type, accepted values and parser.
    default : object
        The value when unset; a function is called to find it.
    when : {'I', 'F', 'C'}
        Read at import, at first use, at each use.
    reader : str
        The module that acts on it.
    doc : str
        What it does, in a sentence or two.
    aliases : tuple of str
        Older names.
    test : str
        The test that proves what it does: a pytest id below ``tests``, such as
        ``"env/test_threads.py::test_team_size"``.
    inert : str or callable
        Why setting it to something else than the default does nothing, where that is so; a
        function is called to find out, and returns "" where the variable works.
    silent : bool
        Whether nothing is said when an inert variable is set: it is no more than an offer.
    under : tuple of str
        Variables that take this one's effect away when they are not at their defaults.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        default: Any,
        when: str,
        reader: str,
        doc: str,
        aliases: tuple[str, ...] = (),
        test: str = "",
        inert: str | Callable[[], str] = "",
        under: tuple[str, ...] = (),
        silent: bool = False,
    ):
        self.name, self.kind, self.when, self.doc = name, kind, when, doc
        self.reader, self.aliases, self.test, self.under = reader, aliases, test, under
        self._default, self._inert, self.silent = default, inert, silent

    @property
    def default(self) -> Any:
        """The value of the unset variable."""
        return self._default() if callable(self._default) else self._default

    @property
    def computed(self) -> bool:
        """Whether the default depends on the machine."""
        return callable(self._default)

    @property
    def inert(self) -> str:
        """Why setting the variable does nothing here; empty where it does something."""
        return self._inert() if callable(self._inert) else self._inert

    @property
    def always_inert(self) -> bool:
        """Whether the variable does nothing on any machine."""
        return isinstance(self._inert, str) and bool(self._inert)

    def parse(self, text: str, spelled: str | None = None) -> Any:
        """The value of a text.

        Raises
        ------
        EnvError
            When the text is none of the accepted values; it names variable, value and choices.
        """
        try:
            return self.kind.parse(text)
        except (ValueError, KeyError):
            raise self.error(text, spelled) from None

    def error(self, value: object, spelled: str | None = None) -> EnvError:
        """The error for a bad value; also for readers with conditions that no type can express."""
        return EnvError(
            f"environment variable {spelled or self.name}={value!r}: expected {self.kind.accepts}"
        )
