#!/bin/bash
# A sample of tests in surroundings unlike a developer's: tools/test_anywhere.sh PYTHON
# All of them are tried; the last lines tell how each went, and what could not be tried here.
cd "$(dirname "$0")/.." || exit
python=${1:?which Python?}
jobs=${JOBS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# sample NAME COMMAND...: run pytest, started by COMMAND, on the tests that $tests names
sample() {
  local name=$1 began=$SECONDS verdict=passed
  shift
  printf '\n== %s\n' "$name"
  "$@" "$python" -m pytest -q -p no:cacheprovider -n "$jobs" $tests || verdict=FAILED
  echo "== $name: $verdict ($((SECONDS - began)) s)" >>"$work/results"
}

untried() {
  echo "== $1: not tried, $2" >>"$work/results"
}

# Start a command as background jobs of a bare CI runner are.
bare() {
  (
    trap '' INT TERM QUIT
    umask 077
    exec env -u LANG -u LANGUAGE HOME=/nonexistent LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 \
      TERM=dumb TZ=Pacific/Chatham COLUMNS=20 "$@" </dev/null
  )
}

one_core() {
  "$python" -c 'import os, sys
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

isa() {
  env MXCY_ISA="$level" "$@"
}

# Root may read and write everything; without these capabilities it must obey permissions.
obeying() {
  setpriv --bounding-set -dac_override,-dac_read_search,-fowner "$@"
}

tests="tests/smoke tests/env/test_threads.py tests/env/test_tuning.py tests/engine
  tests/runtime/test_threads.py tests/runtime/test_tuning.py tests/gluon/data/test_loaders.py"
sample "one core" one_core >"$work/one_core.log" 2>&1 & # the other cores go on with the next

tests="tests/smoke tests/runtime/test_files.py tests/runtime/test_writers.py
  tests/runtime/test_suggestions.py tests/env/test_loading.py tests/env/test_messages.py
  tests/env/test_profiler.py tests/engine/test_life.py tests/engine/test_calls.py
  tests/gluon/data/test_workers.py tests/ndarray/files tests/io/test_recordio.py
  tests/tools tests/gluon/blocks/test_saved_models.py"
sample "SIGINT ignored, LC_ALL=C, TERM=dumb, umask 077, no home" bare

tests="tests/smoke tests/ops/elementwise tests/ops/loss"
for level in v2 v3 v4; do
  if isa "$python" -c 'import mxcy' 2>/dev/null; then
    sample "kernels for x86-64-$level" isa
  else
    untried "kernels for x86-64-$level" "this CPU or this build has none"
  fi
done

if [ "$(id -u)" = 0 ]; then
  tests="tests/runtime/test_files.py tests/runtime/test_writers.py tests/env/test_files.py"
  if obeying true 2>/dev/null; then
    sample "a user who must obey permissions" obeying
  else
    untried "a user who must obey permissions" "setpriv cannot drop capabilities"
  fi
fi

wait
cat "$work/one_core.log"
printf '\n'
cat "$work/results"
! grep -q FAILED "$work/results"
