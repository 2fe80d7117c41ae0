"""Reading of variables, with their aliases, and warnings about names and values."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mxcy._base.suggestions import nearest
from mxcy.env.table import FOREIGN, ROWS
from mxcy.env.variable import EnvError, Variable

__all__ = ["Environment"]

_OURS = ("MXNET_", "MXCY_")


class Environment:
    """The variables in a mapping, normally ``os.environ``.

    Parameters
    ----------
    source : mapping of str to str
        Variable name -> value as str.
    table : iterable of Variable, optional
        The known variables.
    lenient : bool
        Treat an invalid value as unset instead of raising; for reports.
    """

    def __init__(
        self, source: Mapping[str, str], table: Iterable[Variable] = ROWS, lenient: bool = False
    ):
        self._source = source
        self._table = {row.name: row for row in table}
        self._known = {n: row for row in self._table.values() for n in (row.name, *row.aliases)}
        self._lenient = lenient
        self._fixed: dict[str, Any] = {}
        self._warned: set[str] = set()

    def get(self, name: str) -> Any:
        """Return the value of a variable, fixed at the first call unless read at each use.

        Raises
        ------
        KeyError
            If the table has no row with that name.
        EnvError
            If its value is invalid.
        """
        if name in self._fixed:
            return self._fixed[name]
        row = self._table[name]
        value = self._value(row)
        if row.when != "C":
            self._fixed[name] = value
        return value

    def is_set(self, name: str) -> bool:
        """Whether a variable is currently set, under any of its names."""
        return bool(self._find(self._table[name])[1])

    def read_import_time(self) -> None:
        """Read all variables fixed at import, and check the names and values of others.

        Warns
        -----
        UserWarning
            Once for each variable that is unknown, or set without effect on this machine.

        Raises
        ------
        EnvError
            For an invalid value; with MXNET_ENV_STRICT=1 also instead of those warnings.
        """
        for row in self._table.values():
            if row.when == "I":
                self.get(row.name)
        for name, text in tuple(self._source.items()):
            if text:
                self.notice(name)

    def notice(self, name: str) -> None:
        """Warn about an unknown name or a value without effect; see `read_import_time`."""
        row = self._known.get(name)
        if row is None:
            if self._is_unknown(name):
                self._object(name, self._unknown(name))
            return
        if row.inert and not row.silent:
            try:
                differs = self._value(row) != row.default
            except EnvError:
                return  # raised when the variable is read, if ever
            if differs:
                self._object(row.name, f"{name} has no effect: {row.inert}")

    def problems(self) -> list[str]:
        """List problems of the environment: unknown names and invalid values."""
        messages = []
        for name in self._source:
            if self._is_unknown(name):
                messages.append(self._unknown(name))
        for entry in self.report():
            if entry["status"] == "bad":
                messages.append(entry["why"])
        return messages

    def omp_threads(self) -> int:
        """The size of the parallel team: OMP_NUM_THREADS, at most MXNET_OMP_MAX_THREADS."""
        threads: int = self.get("OMP_NUM_THREADS")
        most: int | None = self.get("MXNET_OMP_MAX_THREADS")
        return threads if most is None else min(threads, most)

    def report(self) -> list[dict[str, Any]]:
        """Return dicts with name, raw, value, default, when, read_already, status, why, test.

        `status` is ``active`` (set and effective), ``default``, ``inert`` (set without effect on
        this machine), ``superseded`` (overridden by another variable), ``late`` (changed after it
        was read) or ``bad`` (invalid); `why` explains it. `test` is the test of the effect.
        """
        return [self._describe(row) for row in self._table.values()]

    # --- inside ---------------------------------------------------------------------------------

    def _value(self, row: Variable) -> Any:
        """The current value of a row's variable."""
        spelled, text = self._find(row)
        if not text:
            return row.default
        try:
            return row.parse(text, spelled)
        except EnvError:
            if self._lenient:
                return row.default
            raise

    def _describe(self, row: Variable) -> dict[str, Any]:
        spelled, text = self._find(row, warn=False)
        why = "" if spelled == row.name or not text else f"set as {spelled}"
        status = "active" if text else "default"
        try:
            now = row.parse(text, spelled) if text else row.default
        except EnvError as error:
            now, status, why = None, "bad", str(error)
        if status == "active" and now != row.default:
            winners = [name for name in row.under if self._decides(name)]
            if winners:
                status, why = "superseded", f"{winners[0]} decides"
            if row.inert:
                status, why = "inert", row.inert
        value = self._fixed.get(row.name, now)
        if status != "bad" and row.name in self._fixed and value != now:
            status, why = "late", "changed after it was read; the change has no effect"
        return {
            "name": row.name,
            "raw": text,
            "value": value,
            "default": row.default,
            "when": row.when,
            "read_already": row.name in self._fixed,
            "status": status,
            "why": why,
            "test": row.test,
        }

    def _decides(self, name: str) -> bool:
        row = self._table[name]
        try:
            return bool(self.get(name) != row.default)
        except EnvError:
            return False

    def _find(self, row: Variable, warn: bool = True) -> tuple[str, str | None]:
        """The effective spelling and its value; the documented name has precedence over aliases."""
        texts = list(self._given(row))
        if not texts:
            return row.name, None
        name, text = texts[0]
        if warn and row.name not in self._warned:
            if len({other for _, other in texts}) > 1:
                self._warned.add(row.name)
                losers = ", ".join(f"{other}={value}" for other, value in texts[1:])
                warnings.warn(f"{name}={text} takes precedence over {losers}", stacklevel=4)
            elif name != row.name:
                self._warned.add(row.name)
                warnings.warn(f"{name} is an old name of {row.name}", stacklevel=4)
        return texts[0]

    def _given(self, row: Variable) -> Iterator[tuple[str, str]]:
        for name in (row.name, *row.aliases):
            text = self._source.get(name)
            if text:
                yield name, text

    def _is_unknown(self, name: str) -> bool:
        return name.startswith(_OURS) and name not in self._known and name not in FOREIGN

    def _unknown(self, name: str) -> str:
        near = nearest(name, self._known)
        hint = f"; did you mean {near}?" if near else ""
        return f"mxcy knows no environment variable {name}{hint}"

    def _object(self, name: str, message: str) -> None:
        """Warn once, or raise with MXNET_ENV_STRICT=1."""
        if self._lenient:
            return
        if self.get("MXNET_ENV_STRICT"):
            raise EnvError(message)
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(message, stacklevel=4)
