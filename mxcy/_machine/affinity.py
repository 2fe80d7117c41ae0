"""KMP_AFFINITY: thread binding as in Intel's OpenMP runtime.

Supported are the types none, disabled, compact, scatter, balanced and explicit, the modifiers
granularity, proclist, verbose, warnings, respect, reset and their negations, and the numbers
permute and offset. Topology levels are package, core and hardware thread; CPUs outside the
process's mask are never used.
"""

import re
from collections.abc import Sequence

from mxcy._base.cpus import Cpu

__all__ = ["Affinity", "parse"]

_TYPES = ("none", "disabled", "compact", "scatter", "balanced", "explicit")
_GRAINS = {"fine": "thread", "thread": "thread", "core": "core", "socket": "package"}
_GRAINS["package"] = "package"
_IGNORED = ("noverbose", "warnings", "nowarnings", "respect", "norespect", "reset", "noreset")
_LEVELS = 3


class Affinity:
    """A parsed thread affinity.

    Attributes
    ----------
    kind : str
        The affinity type; see `binds`.
    grain : {'thread', 'core', 'package'}
        The topology level to which a thread is bound.
    permute, offset : int
        The number of innermost levels that sort first; the first place to use.
    listed : list of list of int
        For type explicit, the CPUs of each place.
    verbose : bool
        Whether to report the binding.
    """

    def __init__(self) -> None:
        self.kind, self.grain = "none", "core"
        self.permute, self.offset = 0, 0
        self.listed: list[list[int]] = []
        self.verbose = False

    @property
    def binds(self) -> bool:
        """Whether threads are bound at all."""
        return self.kind not in ("none", "disabled")

    def places(self, cpus: Sequence[Cpu], threads: int) -> list[list[int]]:
        """Compute the CPUs to which each thread is bound.

        Parameters
        ----------
        cpus : sequence of Cpu
            The usable CPUs, at least one.
        threads : int
            The number of threads; places are reused if there are fewer.
        """
        if self.kind == "balanced":
            return self._balanced(cpus, threads)
        if self.kind == "explicit":
            usable = {cpu.number for cpu in cpus}
            places = [sorted(usable.intersection(place)) for place in self.listed]
            places = [place for place in places if place]
        else:
            places = []
            for cpu in sorted(cpus, key=self._order):
                place = self._widened(cpu, cpus)
                if place not in places:
                    places.append(place)
        return [places[(i + self.offset) % len(places)] for i in range(threads)] if places else []

    def _order(self, cpu: Cpu) -> tuple[int, ...]:
        """The sort key: the permuted innermost levels, then the others from the outermost in."""
        levels = (cpu.package, cpu.core, cpu.thread)
        inner = self.permute if self.kind == "compact" else _LEVELS - 1 - self.permute
        inner = min(max(inner, 0), _LEVELS - 1)
        return (*reversed(levels[_LEVELS - inner :]), *levels[: _LEVELS - inner])

    def _widened(self, cpu: Cpu, cpus: Sequence[Cpu]) -> list[int]:
        if self.grain == "thread":
            return [cpu.number]
        depth = 1 if self.grain == "package" else 2
        levels = (cpu.package, cpu.core)[:depth]
        return sorted(c.number for c in cpus if (c.package, c.core)[:depth] == levels)

    def _balanced(self, cpus: Sequence[Cpu], threads: int) -> list[list[int]]:
        """Spread threads over all cores; those on one core have consecutive numbers."""
        cores: dict[tuple[int, int], list[Cpu]] = {}
        for cpu in sorted(cpus, key=lambda c: (c.package, c.core, c.thread)):
            cores.setdefault((cpu.package, cpu.core), []).append(cpu)
        each, more = divmod(threads, len(cores))
        places = []
        for i, members in enumerate(cores.values()):
            for j in range(each + (i < more)):
                places.append(self._widened(members[j % len(members)], cpus))
        return places


def parse(text: str) -> Affinity:
    """Parse a value of KMP_AFFINITY.

    Raises
    ------
    ValueError
        Naming the word that is not understood.
    """
    wanted, kind = Affinity(), None
    numbers: list[int] = []
    for word in re.findall(r"(?:[^,\[{]|\[[^\]]*\]|\{[^}]*\})+", text.strip().strip("\"'")):
        name, equals, value = word.strip().lower().partition("=")
        if name in _TYPES and not equals and kind is None:
            wanted.kind = kind = name
        elif name == "granularity" and value in _GRAINS:
            wanted.grain = _GRAINS[value]
        elif name == "proclist" and value:
            wanted.listed = _proclist(value)
        elif name == "verbose" and not equals:
            wanted.verbose = True
        elif name.isdigit() and not equals and kind is not None and len(numbers) < 2:
            numbers.append(int(name))
        elif name not in _IGNORED or equals:
            raise ValueError(word.strip())
    if (wanted.kind == "explicit") != bool(wanted.listed):
        raise ValueError("explicit without proclist" if not wanted.listed else "proclist")
    wanted.permute, wanted.offset = (*numbers, 0, 0)[:2]
    return wanted


def _proclist(text: str) -> list[list[int]]:
    """Parse places such as ``[0,2-4,{5,6}]``: ranges give one place per CPU, braces one."""
    body = re.fullmatch(r"[\[{](.*)[\]}]", text)
    places: list[list[int]] = []
    for part in re.findall(r"\{[^}]*\}|[^,]+", body.group(1) if body else text):
        if part.startswith("{"):
            places.append([n for word in part.strip("{}").split(",") for n in _range(word)])
        else:
            places += [[n] for n in _range(part)]
    return places


def _range(text: str) -> range:
    match = re.fullmatch(r"\s*(\d+)(?:-(\d+)(?::(\d+))?)?\s*", text)
    if match is None:
        raise ValueError(text)
    first, last, step = match.groups()
    return range(int(first), int(last or first) + 1, int(step or 1) or 1)
