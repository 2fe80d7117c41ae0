"""User-defined profiler objects: tasks, frames, counters, markers."""

import json
import threading

from tests.runtime.traces import checked, configure, named


def test_objects_of_programs(profiler):
    configure(profiler, aggregate_stats=True)
    domain = profiler.Domain("dom")
    task, frame = domain.new_task("tk"), domain.new_frame("fr")
    event, counter, marker = (
        profiler.Event("ev"),
        domain.new_counter("ctr", 1),
        domain.new_marker("mk"),
    )
    assert [str(x) for x in (domain, task, frame, event, counter, marker)] == [
        "dom",
        "tk",
        "fr",
        "ev",
        "ctr",
        "mk",
    ]
    profiler.set_state("run")
    for _ in range(2):
        task.start()
        task.stop()
    task.stop()  # not begun: not an event
    frame.start()
    event.start()
    event.stop()
    frame.stop()
    counter += 5
    counter -= 2
    counter.set_value(17)
    counter.increment()
    counter.decrement(4)
    for scope in ("process", "thread", "global", "task", "marker"):
        marker.mark(scope)
    profiler.set_state("stop")
    event.start()
    event.stop()
    counter += 1
    actual = json.loads(profiler.dumps(format="json"))["Time"]
    profiler.dump()
    events = checked(profiler.path)
    assert named(events, "dom") == ["tk", "tk"]
    assert named(events, "dom,frame") == ["fr"]
    assert [e["ph"] for e in events if e.get("cat") == "event"] == ["B", "E"]
    assert [e["args"]["ctr"] for e in events if e["name"] == "ctr"] == [6, 4, 17, 18, 14]
    assert "".join(e["s"] for e in events if e["name"] == "mk") == "ptgpp"
    assert actual["dom"]["tk"]["Count"] == 2 and actual["dom,frame"]["fr"]["Count"] == 1
    assert actual["event"]["ev"]["Count"] == 1
    assert actual["dom"]["ctr"] == {"Count": 5, "Total": 14, "Min": 4, "Max": 18, "Avg": 11.8}


def test_overlapping_events_and_events_across_threads(profiler):
    profiler.set_state("run")
    outer, first, second = (profiler.Event(name) for name in ("outer", "first", "second"))
    outer.start()
    first.start()
    second.start()
    first.stop()
    second.stop()
    elsewhere = profiler.Event("elsewhere")
    elsewhere.start()
    thread = threading.Thread(target=elsewhere.stop)
    thread.start()
    thread.join()
    outer.stop()
    profiler.dump()
    events = checked(profiler.path)
    assert sorted(named(events, "event")) == ["elsewhere", "first"]
    assert sorted(e["name"] for e in events if e["ph"] == "B") == ["outer", "second"]


def test_names_with_quotes(profiler):
    profiler.set_state("run")
    task = profiler.Domain('a "b"').new_task("c\\d\n")
    task.start()
    task.stop()
    profiler.dump()
    assert named(checked(profiler.path), 'a "b"') == ["c\\d"]
