"""A row of the table of environment variables."""

from collections.abc import Callable
from typing import Any

from mxcy._base.errors import MXNetError
from mxcy.env.kinds import Kind

__all__ = ["EnvError", "Variable"]


class EnvError(MXNetError, ValueError):
    """An environment variable has an invalid value."""

    def __init__(self, *args: object):
        RuntimeError.__init__(self, *args)  # without native frames, which depend on variables


class Condition:
    """The reason why variables have no effect, provided by a higher-level module.

    Attributes
    ----------
    ask : callable
        ``ask()``: the reason as str, "" if the variables work; set by that module.
    """

    def __init__(self) -> None:
        self.ask: Callable[[], str] = lambda: ""

    def __call__(self) -> str:
        return self.ask()


class Variable:
    """A variable: type, default, time of reading, reader and purpose.

    Parameters
    ----------
    name : str
        The documented name, which takes precedence over `aliases`.
    kind : Kind
        Type, accepted values and parser.
    default : object
        The value if unset, or a function that computes it.
    when : {'I', 'F', 'C'}
        When it is read: at import, at first use, at each use.
    reader : str
        The module that uses it.
    doc : str
        Its effect, in a sentence or two.
    aliases : tuple of str
        Older names.
    test : str
        The test of its effect: a pytest id below ``tests``, such as
        ``"env/test_threads.py::test_team_size"``.
    inert : str or callable
        The reason why a non-default value has no effect, if so; or a function that returns it, ""
        if the variable works.
    silent : bool
        Whether to omit the warning if it is set but inert.
    under : tuple of str
        Variables that override this one if not at their defaults.
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
        """The default value."""
        return self._default() if callable(self._default) else self._default

    @property
    def computed(self) -> bool:
        """Whether the default depends on the machine."""
        return callable(self._default)

    @property
    def inert(self) -> str:
        """The reason why the variable has no effect on this machine, or ""."""
        return self._inert() if callable(self._inert) else self._inert

    @property
    def always_inert(self) -> bool:
        """Whether the variable has no effect on any machine."""
        return isinstance(self._inert, str) and bool(self._inert)

    def parse(self, text: str, spelled: str | None = None) -> Any:
        """Parse a value.

        Raises
        ------
        EnvError
            If the value is invalid, naming variable, value and accepted values.
        """
        try:
            return self.kind.parse(text)
        except (ValueError, KeyError):
            raise self.error(text, spelled) from None

    def error(self, value: object, spelled: str | None = None) -> EnvError:
        """Make the error for an invalid value, also for conditions that no type can express."""
        return EnvError(
            f"environment variable {spelled or self.name}={value!r}: expected {self.kind.accepts}"
        )
