"""The key figures of benchmarks/history as a page: the newest beside others, and all releases."""

from tools import figure_drawings, figures

_HEAD = """\
# Figures of releases

Shortest times of steps or batches, as `make train-table` and `make score` measured them beside
other frameworks in the same minutes, and key figures: time on the CPU with one thread, beside
something fixed that NumPy does, by which releases are compared. `tools/figures.py` keeps them. Bars
are times as multiples of ours; dots are key figures, and lines NumPy's yardsticks in the same runs,
which tell how fast the machine was: mostly they do something else than the figure beside them.

"""


def page():
    """The page as Markdown, and {file name: drawing}."""
    runs = figures.runs(figures.HISTORY)
    lines, plots, machines = [_HEAD], {}, {}
    for run in runs:
        machines.setdefault(run["machine"], []).append(run)
    newest_first = sorted(machines.items(), key=lambda item: item[1][-1]["day"], reverse=True)
    for number, (machine, known) in enumerate(newest_first):
        newest = known[-1]
        loads = [f"{load} ({kind})" for kind, load in newest["loads"].items() if load is not None]
        load = f", load average {', '.join(loads)}" if loads else ""
        lines += [f"## {machine}", "", f"Version {newest['release']}, {newest['day']}{load}.", ""]
        drawings = {
            f"figures{number}.svg": (figure_drawings.bars(newest), "Bars of times"),
            f"scale{number}.svg": (figure_drawings.scale(known), "Key figures of releases"),
        }
        for name, (drawing, alternative) in drawings.items():
            if drawing:
                plots[name] = drawing
                lines += [f"```{{image}} plots/{name}", f":alt: {alternative}", "```", ""]
        titles = list(dict.fromkeys(title for run in known for title in run["figures"]))
        heads = [f"{run['release']}, {run['day']}" for run in known]
        lines += [f"| milliseconds | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
        for title in titles:
            entries = [run["figures"].get(title) for run in known]
            cells = [f"{entry['seconds'] * 1e3:.4g}" if entry else "" for entry in entries]
            lines.append(f"| {title} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines), plots
