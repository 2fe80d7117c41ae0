"""The profiler's overhead for an eager call (4x4 float32): switched off, and per recorded event.

Switched off, a call tests an integer in three places. ``off`` is such a call, ``counted`` the same
call with the row's event categories switched on.
"""

import pytest

SETUP = """
import mxcy as mx
a, b = mx.nd.ones((4, 4)), mx.nd.ones((4, 4))
mx.profiler.set_config(filename={path!r}, continuous_dump=False, max_events=100_000_000,
                       **{{"profile_" + name: name in {kinds} for name in {all_kinds}}})
"""
LOOP = "for _ in range(1000): a + b"
ON = f'mx.profiler.set_state("run")\n{LOOP}\nmx.profiler.set_state("stop")'
ALL = ("symbolic", "imperative", "api", "memory")
#: kinds -> events of a call
CASES = {("imperative",): 1, ("api",): 1, ("memory",): 2, ("imperative", "api", "memory"): 4}


@pytest.mark.parametrize("kinds", CASES, ids="+".join)
def test_event(compare, announce, tmp_path, kinds):
    setup = SETUP.format(path=str(tmp_path / "profile.json"), kinds=kinds, all_kinds=ALL)
    times = compare(
        f"1000 x a + b, {'+'.join(kinds)}",
        {"mxcy": setup, "off": setup},
        {"mxcy": ON, "off": LOOP},
        seconds=0.002,
    )
    on, off = times["mxcy"][0], times["off"][0]
    each = (on - off) * 1e6 / CASES[kinds]  # of 1000 calls: nanoseconds
    announce(
        f"profiler: {'+'.join(kinds)}",
        [f"a call takes {off * 1e6:.0f} ns, {CASES[kinds]} events {each:.0f} ns more each"],
    )
    assert each < 1000, "an event takes more than a microsecond"


def test_writing(compare, tmp_path):
    """Write the events of 10,000 calls, four each, to the file."""
    path = str(tmp_path / "profile.json")
    setup = SETUP.format(path=path, kinds=ALL, all_kinds=ALL)
    run = 'mx.profiler.set_state("run")\nfor _ in range(10000): a + b\nmx.profiler.dump()'
    compare("10000 x a + b, written", {"mxcy": setup}, {"mxcy": run})
