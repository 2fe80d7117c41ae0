"""Measurements on this machine for one team size, and the file that stores them."""

import json
import os
import re
from typing import Any

from mxcy import env
from mxcy._base import cache_files, cpus
from mxcy.libinfo import __version__

__all__ = ["Table", "counts"]


def counts(most: int) -> list[int]:
    """The thread counts for which regions are measured: up to 8 all, then doubling."""
    sizes = list(range(2, min(most, 8) + 1))
    while sizes and sizes[-1] < most:
        sizes.append(min(2 * sizes[-1], most))
    return sizes


class Table:
    """Measurements for one team size, valid for one CPU model, version and kernel build.

    Parameters
    ----------
    team : int
        The number of threads.
    persistent : bool
        Whether measurements are read from and written to the file.

    Attributes
    ----------
    path : str
        The file, named after CPU model and number of threads.
    regions : dict
        Thread count -> nanoseconds of a parallel region.
    rates : dict
        Kernel, types and form -> ``{"in": [alone, team, processes], "out": [...]}``: nanoseconds
        per step of work with data in the caches and outside (either may be missing), each the
        minimum over `processes` processes.
    doubtful : set
        ``(key, "in" or "out")`` of rates, and thread counts of regions, measured while other
        programs used the cores: they are neither used nor saved.
    """

    def __init__(self, team: int, persistent: bool):
        self.team, self.persistent = team, persistent
        model = re.sub("[^a-z0-9]+", "-", cpus.model().lower()).strip("-")
        self.path = os.path.join(env.get("MXNET_HOME"), "op_tuning", f"{model}-{team}.json")
        self.regions: dict[int, float] = {}
        self.rates: dict[str, dict[str, list[float]]] = {}
        self.doubtful: set[object] = set()
        self.changed = False
        if persistent:
            self._add(self._read())

    def contents(self) -> dict[str, Any]:
        """All measurements, in the format of the file."""
        rates = {
            key: {
                name: rate for name, rate in by_location.items() if (key, name) not in self.doubtful
            }
            for key, by_location in self.rates.items()
        }
        regions = {str(n): cost for n, cost in self.regions.items() if n not in self.doubtful}
        return {
            **self._identity(),
            "regions": regions,
            "rates": {key: by_location for key, by_location in rates.items() if by_location},
        }

    def text(self) -> str:
        """The contents as a line of JSON."""
        return json.dumps(self.contents())

    def region(self, most: int | None) -> float:
        """The cost of a region with the full team, or the median over 2 to `most` threads."""
        costs = sorted(self.regions[n] for n in self.measured(most))
        return (costs[(len(costs) - 1) // 2] + costs[len(costs) // 2]) / 2

    def measured(self, most: int | None) -> list[int]:
        """The thread counts from which the region cost is computed."""
        return [self.team] if most is None else counts(most)

    def save(self) -> None:
        """Write new measurements, keeping those that other processes wrote meanwhile.

        If MXNET_HOME is not writable, measurements are repeated next time.
        """
        if not (self.changed and self.persistent):
            return
        self.changed = False
        saved, contents = self._read(), self.contents()
        rates = saved.get("rates", {})
        for key, by_location in contents["rates"].items():
            rates[key] = {**rates.get(key, {}), **by_location}
        contents["rates"] = rates
        contents["regions"] = {**saved.get("regions", {}), **contents["regions"]}
        cache_files.write(self.path, contents)

    def _identity(self) -> dict[str, Any]:
        return {
            "cpu": cpus.model(),
            "threads": self.team,
            "version": __version__,
            "isa": env.get("MXCY_ISA") or "best",
        }

    def _read(self) -> dict[str, Any]:
        """The file's contents; empty if there is none or it is of another version."""
        contents, usable = cache_files.read(self.path, _well_formed)
        self.changed |= not usable
        identity = self._identity()
        return (
            contents if all(contents.get(name) == value for name, value in identity.items()) else {}
        )

    def _add(self, content: dict[str, Any]) -> None:
        self.regions = {int(n): cost for n, cost in content.get("regions", {}).items()}
        self.rates = content.get("rates", {})


def _well_formed(content: dict[str, Any]) -> bool:
    """Whether a file's contents have the expected structure."""
    costs, rates = content.get("regions"), content.get("rates")
    if not isinstance(costs, dict) or not isinstance(rates, dict):
        return False
    inner = [by_location for by_location in rates.values() if isinstance(by_location, dict)]
    triples = [rate for by_location in inner for rate in by_location.values()]
    return (
        len(inner) == len(rates)
        and all(_is_count(n) and _is_time(cost) for n, cost in costs.items())
        and all(by_location.keys() <= {"in", "out"} for by_location in inner)
        and all(isinstance(rate, list) and len(rate) == 3 for rate in triples)
        and all(_is_time(number) for rate in triples for number in rate)
    )


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < 1e18


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6
