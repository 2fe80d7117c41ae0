"""Validate Chrome traces as Perfetto requires, and read them."""

import collections
import json
import numbers

__all__ = ["checked", "configure", "intervals", "named"]

#: phase -> the members that its events have besides ph
MEMBERS = {
    "M": {"name", "pid", "args"},
    "B": {"name", "cat", "ts", "pid", "tid"},
    "E": {"name", "cat", "ts", "pid", "tid"},
    "b": {"name", "cat", "ts", "pid", "tid", "id"},
    "e": {"name", "cat", "ts", "pid", "tid", "id"},
    "(": {"name", "cat", "ts", "pid", "tid", "id"},
    ")": {"name", "cat", "ts", "pid", "tid", "id"},
    "n": {"name", "cat", "ts", "pid", "tid", "id", "s"},
    "C": {"name", "cat", "ts", "pid", "tid", "args"},
}
OPTIONAL = {"args", "tid"}


def checked(path):
    """The events of a trace file, after validation of its format."""
    content = json.loads(path.read_text())
    assert content["displayTimeUnit"] == "ms"
    assert content["otherData"]["dropped events"] >= 0 and content["otherData"]["epoch"] > 0
    events = content["traceEvents"]
    for event in events:
        check_members(event)
    processes = [e["pid"] for e in events if e["name"] == "process_name" and e["ph"] == "M"]
    assert len(processes) == len(set(processes)), "a process is named twice"
    assert {e["pid"] for e in events} <= set(processes), "a process has no name"
    rows = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["ph"] == "M"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] in "BEben()"} <= rows
    check_nesting(events)
    check_pairs(events)
    return events


def check_members(event):
    assert event["ph"] in MEMBERS, event
    needed = MEMBERS[event["ph"]]
    assert needed <= event.keys() - {"ph"} <= needed | OPTIONAL, event
    for name in ("pid", "tid", "id"):
        if name in event:
            assert isinstance(event[name], int) and 0 <= event[name] < 2**31, event
    if "ts" in event:
        assert isinstance(event["ts"], numbers.Real) and event["ts"] >= 0, event
    if event["ph"] == "C":
        assert list(event["args"]) == [event["name"]], event
        assert isinstance(event["args"][event["name"]], int), event
    if event["ph"] == "n":
        assert event["s"] in ("p", "t", "g"), event


def check_nesting(events):
    """Check that every E closes the last open B in its row."""
    stacks = collections.defaultdict(list)
    for event in sorted((e for e in events if e["ph"] in "BE"), key=lambda e: e["ts"]):
        stack = stacks[event["pid"], event["tid"]]
        if event["ph"] == "B":
            stack.append(event)
        else:
            assert stack and stack.pop()["name"] == event["name"], event
    assert not any(stacks.values())


def check_pairs(events):
    for first, second in ("be", "()"):
        begins = {(e["cat"], e["id"]): e for e in events if e["ph"] == first}
        ends = {(e["cat"], e["id"]): e for e in events if e["ph"] == second}
        assert len(begins) == sum(e["ph"] == first for e in events)
        assert begins.keys() == ends.keys()
        for key, begin in begins.items():
            assert begin["name"] == ends[key]["name"] and begin["ts"] <= ends[key]["ts"]


def intervals(events, category):
    """(name, microseconds) of all b/e pairs of a category, in the order of their beginnings."""
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "e" and e["cat"] == category}
    begins = [e for e in events if e["ph"] == "b" and e["cat"] == category]
    begins.sort(key=lambda event: event["ts"])
    return [(event["name"], ends[event["id"]] - event["ts"]) for event in begins]


def named(events, category):
    """The names of all b/e pairs of a category, in the order of their beginnings."""
    return [name for name, _ in intervals(events, category)]


def configure(profiler, **options):
    """Set options; only `dump` writes the fixture's file."""
    profiler.set_config(filename=str(profiler.path), continuous_dump=False, **options)
