"""Statistics of events: one table per category, or JSON."""

import json

__all__ = ["as_json", "as_table", "grouped", "SORT_KEYS"]

SORT_KEYS = ("total", "avg", "min", "max", "count")

_COUNTER = 7  # MX_EVENT_COUNTER of mxcy_profiler.h
_MARKER = 8
_MEMORY = "Device Storage"


class _Row:
    """Events with the same name. Times in milliseconds, memory in kB, other counters as is."""

    def __init__(self, kind, category):
        self._counts = kind == _COUNTER
        self._unit = 1000.0 if category == _MEMORY else 1.0 if self._counts else 1e6
        self._figures = []

    def add(self, *figures):
        self._figures.append(figures)

    def _column(self, number):
        return [figures[number] for figures in self._figures]

    @property
    def count(self):
        return sum(self._column(0))

    @property
    def total(self):
        """The total time, or the last value of a counter."""
        return (self._column(4)[-1] if self._counts else sum(self._column(1))) / self._unit

    @property
    def min(self):
        return min(self._column(2)) / self._unit

    @property
    def max(self):
        return max(self._column(3)) / self._unit

    @property
    def avg(self):
        return sum(self._column(1)) / self._unit / self.count


def grouped(stats, sort_by, ascending):
    """Group rows by category and name.

    Parameters
    ----------
    stats : list of tuple
        (kind, category, name, count, total, least, most, last), possibly several per name.
    sort_by : {'total', 'avg', 'min', 'max', 'count'}
    ascending : bool

    Returns
    -------
    dict of str to dict of str to row
        Category -> name -> row, in the requested order.
    """
    groups = {}
    for kind, category, name, *figures in stats:
        if kind == _MARKER:
            continue
        rows = groups.setdefault(category, {})
        rows.setdefault(name, _Row(kind, category)).add(*figures)
    return {
        category: dict(
            sorted(
                groups[category].items(),
                key=lambda pair: getattr(pair[1], sort_by),
                reverse=not ascending,
            )
        )
        for category in sorted(groups)
    }


def as_table(groups):
    """Format `grouped` rows as a table."""
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    for category, rows in groups.items():
        if category == _MEMORY:
            names = ("Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)")
        else:
            names = ("Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
        lines += [category, "================="]
        lines.append(_line("Name", "Total Count", names))
        lines.append(_line("----", "-----------", ["-" * len(name) for name in names]))
        for name, row in rows.items():
            figures = (row.min, row.max, row.avg)
            if category != _MEMORY:
                figures = (row.total, *figures)
            lines.append(_line(name, row.count, [f"{figure:.4f}" for figure in figures]))
        lines.append("")
    return "\n".join([*lines, ""])


def _line(name, count, figures):
    return f"{name:<25}{count:>16}" + "".join(f" {figure:>16}" for figure in figures)


def as_json(groups):
    """Format `grouped` rows as JSON, with times in ms and memory in kB."""
    time, memory = {}, {}
    for category, rows in groups.items():
        for name, row in rows.items():
            entry = {"Count": row.count}
            if category != _MEMORY:
                entry["Total"] = row.total
            entry.update(Min=row.min, Max=row.max, Avg=row.avg)
            target = memory if category == _MEMORY else time
            target.setdefault(category, {})[name] = entry
    units = {"Time": "ms", "Memory": "kB"}
    return json.dumps({"Time": time, "Memory": memory, "Unit": units}, indent=4)
