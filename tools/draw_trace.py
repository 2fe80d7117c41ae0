"""Draw a trace of mx.profiler, or a part of it, as SVG, using the standard library only.

Run ``python tools/draw_trace.py profile.json picture.svg --task step`` to draw the last task with
this name; without ``--task`` the whole trace. Rows are threads, with operators nested in their
segments; below are API calls, and counters as areas. Perfetto shows more.
"""

import argparse
import html
import json
from pathlib import Path

from mxcy._base.files import replacing

WIDTH, LEFT, RIGHT = 1200, 150, 20
ROW, GAP, AREA = 18, 14, 60
FONT = 'font-family="system-ui,sans-serif" font-size="11"'
COLOURS = (
    "#8ecae6",
    "#a8d5a2",
    "#ffb703",
    "#f4a6b5",
    "#cdb4db",
    "#bde0fe",
    "#e9c46a",
    "#90be6d",
    "#f9c74f",
    "#b8c0ff",
    "#84dcc6",
    "#ffc8a2",
)
PLAIN = {"segment": "#dfe4ea", "MXNET_C_API": "#c9d6df"}


def pairs(events, first, second, key):
    """Match the events of a row to (begin, end) pairs: an end closes the innermost open begin."""
    open_ones, intervals = {}, []
    for event in sorted((e for e in events if e["ph"] in (first, second)), key=lambda e: e["ts"]):
        stack = open_ones.setdefault(key(event), [])
        if event["ph"] == first:
            stack.append(event)
        else:
            intervals.append((stack.pop(), event))
    return intervals


def window(events, task):
    """(start, end) of the last task with a name, or of the whole trace, in microseconds."""
    tasks = [
        (begin["ts"], end["ts"])
        for begin, end in pairs(events, "b", "e", lambda e: (e["cat"], e["id"]))
        if begin["name"] == task
    ]
    times = [event["ts"] for event in events if "ts" in event]
    return tasks[-1] if tasks else (min(times), max(times))


def stacked(spans):
    """(level, begin, end) of spans; nested spans have increasing levels."""
    open_ends, intervals = [], []
    for begin, end in sorted(spans, key=lambda pair: (pair[0]["ts"], -pair[1]["ts"])):
        while open_ends and open_ends[-1] <= begin["ts"]:
            open_ends.pop()
        intervals.append((len(open_ends), begin, end))
        open_ends.append(end["ts"])
    return intervals


class Picture:
    """An SVG to which rows are appended at the bottom."""

    def __init__(self, start, end):
        self.start, self.scale = start, (WIDTH - LEFT - RIGHT) / (end - start)
        self.end, self.top, self.parts = end, 40, []
        self.colours = dict(PLAIN)  # by name, or by category

    def x(self, time):
        return LEFT + (min(max(time, self.start), self.end) - self.start) * self.scale

    def text(self, x, y, words, more=""):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" {FONT} {more}>{html.escape(words)}</text>'
        )

    def colour(self, event):
        if event["cat"] in PLAIN:
            return PLAIN[event["cat"]]
        fresh = COLOURS[(len(self.colours) - len(PLAIN)) % len(COLOURS)]
        return self.colours.setdefault(event["name"], fresh)

    def axis(self):
        span = self.end - self.start
        power = 10 ** (len(str(int(span))) - 2)
        step = next(n * power for n in (1, 2, 5, 10) if span <= 12 * n * power)
        for number in range(int(span / step) + 1):
            x = self.x(self.start + number * step)
            line = f'x1="{x:.1f}" x2="{x:.1f}" y1="28" y2="{self.top}" stroke="#e3e3e3"'
            self.parts.insert(0, f"<line {line}/>")
            self.text(x, 22, f"{number * step / 1000:g} ms", 'text-anchor="middle" fill="#666"')

    def row(self, name, spans):
        """Draw the boxes of spans, nested ones below."""
        levels = stacked(spans)
        self.text(8, self.top + 13, name)
        for level, begin, end in levels:
            x, y = self.x(begin["ts"]), self.top + level * ROW
            width = max(self.x(end["ts"]) - x, 0.5)
            colour = self.colour(begin)
            about = f"{begin['name']}, {(end['ts'] - begin['ts']) / 1000:.3f} ms"
            self.parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" fill="{colour}">'
                f"<title>{html.escape(about)}</title></rect>"
            )
            shown = begin["name"][: int((width - 4) / 6)]
            if len(shown) > 2:
                self.text(x + 3, y + 12, shown)
        self.top += ROW * (1 + max((level for level, _, _ in levels), default=0)) + GAP

    def counter(self, name, events, unit):
        """Draw a counter as an area."""
        before = [e["args"][name] for e in events if e["ts"] <= self.start]
        points = [(self.start, before[-1] if before else events[0]["args"][name])]
        points += [(e["ts"], e["args"][name]) for e in events if self.start < e["ts"] <= self.end]
        points.append((self.end, points[-1][1]))
        most = max(value for _, value in points) or 1
        bottom, corners = self.top + AREA, [f"{LEFT},{self.top + AREA}"]
        height = bottom
        for time, value in points:
            x = self.x(time)
            corners.append(f"{x:.1f},{height:.1f}")
            height = bottom - value / most * (AREA - 4)
            corners.append(f"{x:.1f},{height:.1f}")
        corners.append(f"{self.x(self.end):.1f},{bottom}")
        self.parts.append(f'<polygon points="{" ".join(corners)}" fill="#f4b6a6"/>')
        self.text(8, self.top + 13, name)
        self.text(8, self.top + 29, f"at most {most / unit:.2f} MB", 'fill="#666"')
        self.top += AREA + GAP

    def whole(self):
        self.axis()
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.top}">\n'
            f'<rect width="{WIDTH}" height="{self.top}" fill="white"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def draw(events, task=None):
    """Return the SVG text."""
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"
    }
    start, end = window(events, task)
    picture = Picture(start, end)

    def inside(intervals):
        return [(b, e) for b, e in intervals if b["ts"] < end and e["ts"] > start]

    rows = {}
    for begin, close in inside(pairs(events, "B", "E", lambda e: (e["pid"], e["tid"]))):
        rows.setdefault((begin["pid"], begin["tid"]), []).append((begin, close))
    for place in sorted(rows):
        picture.row(f"{names[place[0]]}: {threads[place]}", rows[place])
    calls = {}
    for begin, close in inside(pairs(events, "b", "e", lambda e: (e["cat"], e["id"]))):
        if begin["cat"] == "MXNET_C_API":
            calls.setdefault(begin["tid"], []).append((begin, close))
    for thread in sorted(calls):
        picture.row(f"calls: {threads[calls[thread][0][0]['pid'], thread]}", calls[thread])
    memory = [e for e in events if e["ph"] == "C" and e["cat"] == "Device Storage"]
    for name in sorted({e["name"] for e in memory}):
        changes = sorted((e for e in memory if e["name"] == name), key=lambda e: e["ts"])
        picture.counter(name, changes, 1e6)
    return picture.whole()


def main():
    parser = argparse.ArgumentParser(description="Draw a trace of mx.profiler, or a part of it")
    parser.add_argument("trace", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--task", help="draw only the last task with this name")
    args = parser.parse_args()
    events = json.loads(args.trace.read_text())["traceEvents"]
    with replacing(args.picture) as file:
        file.write(draw(events, args.task).encode())


if __name__ == "__main__":
    main()
