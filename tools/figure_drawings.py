"""SVG drawings of releases' key figures, for the site: bars next to others, and all by size."""

import math
from html import escape

__all__ = ["YARDSTICK", "bars", "scale"]

YARDSTICK = "yardstick"  # NumPy operations timed alongside key figures, not drawn
_WIDTH, _ROW = 560, 18  # narrow: phones show it at two thirds of its size
_LONGEST = 4.0  # times ours: longer bars, which would make all others short, are cut
_LEFT = {"bars": 140, "scale": 240}
_COLOURS = ("#33658a", "#86a8c4", "#c9d6e2")  # of the newest release, and of those before
_UNITS = {-9: "1 ns", -6: "1 µs", -3: "1 ms", 0: "1 s"}


def bars(run):
    """Draw a run as SVG: the time of others relative to ours, per figure.

    Parameters
    ----------
    run : dict
        Figures without other contenders than a yardstick are skipped.

    Returns
    -------
    str
        SVG text, empty if no figure remains.
    """
    shown = {
        title: figure
        for title, figure in run["figures"].items()
        if figure["others"].keys() - {YARDSTICK}
    }
    if not shown:
        return ""
    longest = max(t / f["seconds"] for f in shown.values() for t in f["others"].values())
    longest, left = min(max(1.0, longest), _LONGEST), _LEFT["bars"]
    step = (_WIDTH - left - 60) / longest
    parts, y = [], 12
    for title, figure in shown.items():
        rows = [("mxcy", figure["seconds"]), *sorted(figure["others"].items(), key=lambda o: o[1])]
        parts.append(f'<text x="8" y="{y + 13}" font-weight="bold">{escape(title)}</text>')
        y += _ROW
        for name, seconds in rows:
            factor = seconds / figure["seconds"]
            end = min(factor, longest) * step
            colour = _COLOURS[0] if name == "mxcy" else _COLOURS[-1]
            label = f"{seconds * 1e3:.4g} ms" if name == "mxcy" else f"{factor:.2f} x"
            parts.append(
                f'<text x="{left - 10}" y="{y + 12}" text-anchor="end">{escape(name)}</text>'
                f'<rect x="{left}" y="{y + 1}" width="{end:.1f}" height="{_ROW - 5}" '
                f'fill="{colour}"/><text x="{left + end + 6:.1f}" y="{y + 12}">{label}'
                f"</text>"
            )
            y += _ROW
        y += 8
    return _svg("Times of others as multiples of ours", y, parts)


def scale(runs):
    """The key figures of a machine's releases as SVG, on one logarithmic scale of time.

    Parameters
    ----------
    runs : list of dict
        The newest last. Each figure has a dot for each release, and a line where NumPy's
        yardstick was.

    Returns
    -------
    str
        Empty where no run has key figures.
    """
    runs = [run for run in runs if _key_figures(run)][-len(_COLOURS) :]
    if not runs:
        return ""
    titles = list(dict.fromkeys(title for run in reversed(runs) for title in _key_figures(run)))
    times = [t for run in runs for figure in _key_figures(run).values() for t in _times(figure)]
    lowest, highest = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    left = _LEFT["scale"]

    def x(seconds):
        share = (math.log10(seconds) - lowest) / max(highest - lowest, 1)
        return round(left + share * (_WIDTH - left - 20), 1)

    parts, top = _legend(runs), 44
    bottom = top + _ROW * len(titles)
    for power in range(lowest, highest + 1):
        label = _UNITS.get(power, "")
        parts.append(
            f'<line x1="{x(10**power)}" x2="{x(10**power)}" y1="{top - 6}" y2="{bottom}" '
            f'stroke="{"#999" if label else "#ddd"}"/>'
            f'<text x="{x(10**power)}" y="{top - 10}" text-anchor="middle">{label}</text>'
        )
    for row, title in enumerate(titles):
        y = top + _ROW * row + _ROW // 2
        short = escape(title.removeprefix("key, "))
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{short}</text>')
        for colour, run in reversed([*zip(_COLOURS, reversed(runs), strict=False)]):
            figure = _key_figures(run).get(title)
            if figure is None:
                continue
            parts.append(
                f'<circle cx="{x(figure["seconds"])}" cy="{y}" r="5" fill="{colour}"><title>'
                f"{escape(run['release'])}: {figure['seconds'] * 1e3:.4g} ms</title></circle>"
            )
            if YARDSTICK in figure["others"] and run is runs[-1]:
                at = x(figure["others"][YARDSTICK])
                parts.append(
                    f'<line x1="{at}" x2="{at}" y1="{y - 6}" y2="{y + 6}" stroke="#b5482a" '
                    f'stroke-width="2"/>'
                )
    return _svg("Key figures of releases on one scale of time", bottom + 8, parts)


def _key_figures(run):
    return {title: f for title, f in run["figures"].items() if title.startswith("key, ")}


def _times(figure):
    return (figure["seconds"], *figure["others"].values())


def _legend(runs):
    parts, left = [], 12
    for colour, run in zip(_COLOURS, reversed(runs), strict=False):
        parts.append(
            f'<circle cx="{left}" cy="12" r="5" fill="{colour}"/>'
            f'<text x="{left + 10}" y="16">{escape(run["release"])}</text>'
        )
        left += 70
    parts.append(
        f'<line x1="{left}" x2="{left}" y1="6" y2="18" stroke="#b5482a" stroke-width="2"/>'
        f'<text x="{left + 8}" y="16">yardstick</text>'
    )
    return parts


def _svg(title, height, parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}"><rect width="{_WIDTH}" height="{height}" fill="#fff"/>'
        f'<g font-family="sans-serif" font-size="12" fill="#111">{"".join(parts)}</g></svg>\n'
    )
