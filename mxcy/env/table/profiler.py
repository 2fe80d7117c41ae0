"""Profiler."""

from mxcy.env.kinds import Kind, flag, integer
from mxcy.env.variable import Variable

_WORDS = {"symbolic": 1, "imperative": 2, "api": 4, "memory": 8, "all": 15}


def _parse_mode(text: str) -> int:
    value = _WORDS.get(text.strip().lower())
    return int(integer(0, 15).parse(text)) if value is None else value


mode = Kind(f"0 to 15, or one of {', '.join(_WORDS)}", _parse_mode)

ROWS = (
    Variable("MXNET_PROFILER_AUTOSTART", flag, False, "I", "mxcy",
             "1: the profiler runs from import on and writes profile.json at exit, also after "
             "an exception or SIGTERM.",
             test="env/test_profiler.py::test_autostart_writes_a_file"),
    Variable("MXNET_PROFILER_MODE", mode, 13, "I", "mxcy.profiler.session",
             "What the profiler records until profiler.set_config() is called: the sum of 1 "
             "(operators in graphs), 2 (eager operators), 4 (API calls) "
             "and 8 (memory). With MXNET_PROFILER_AUTOSTART=1 the default is all of them.",
             test="env/test_profiler.py::test_modes"),
)
