"""The key figures of benchmarks/history as a page: the newest beside others, and all releases."""

from tools import figures

_HEAD = """\
# Figures of releases

Shortest times of steps or batches, as `make train-table` and `make score` measured them beside
other frameworks in the same minutes, and key figures: time on the CPU with one thread, beside
something fixed that NumPy does, by which releases are compared. `tools/figures.py` keeps them. Bars
are times as multiples of ours.

"""


def page():
    """The page as Markdown, and {file name: drawing}."""
    runs = figures.runs(figures.HISTORY)
    lines, plots, machines = [_HEAD], {}, {}
    for run in runs:
        machines.setdefault(run["machine"], []).append(run)
    for number, (machine, known) in enumerate(machines.items()):
        newest = known[-1]
        load = "" if newest["load"] is None else f", load average {newest['load']}"
        lines += [f"## {machine}", "", f"Version {newest['release']}, {newest['day']}{load}.", ""]
        drawing = figures.bars(newest)
        if drawing:
            plots[f"figures{number}.svg"] = drawing
            lines += [f"```{{image}} plots/figures{number}.svg", ":alt: Bars of times", "```", ""]
        titles = list(dict.fromkeys(title for run in known for title in run["figures"]))
        heads = [f"{run['release']}, {run['day']}" for run in known]
        lines += [f"| milliseconds | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
        for title in titles:
            entries = [run["figures"].get(title) for run in known]
            cells = [f"{entry['seconds'] * 1e3:.4g}" if entry else "" for entry in entries]
            lines.append(f"| {title} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines), plots
