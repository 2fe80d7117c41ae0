#!/bin/bash
# The tests with each front: tools/test_fronts.sh PYTHON [options of pytest]
# All of them run with the Cython front. With the ctypes front, those run whose subject is what a
# front provides (mxcy/_library/front.py lists its names); ALL=1 runs all of them.
# The second front is tried even if the first one fails; the last lines tell both results.
python=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
color=$([ -t 1 ] && echo yes || echo no)
status=0 results=()

# Start and choice of a front; arrays, their methods, files and views; calls, their casts and results;
# recording and gradients; runs of graphs; engine, memory, threads, profiler, settings; what users
# define themselves. All else reaches a front through these alone: records, passes and layers are
# the same Python with both, kernels the same C++.
of_a_front=(tests/{smoke,fronts,ndarray,autograd,symbol,numpy/arrays,numpy/calls,engine,runtime,env}
  tests/{amp,custom,module,kvstore,gluon/blocks} tests/ops/random tests/gluon/test_trainer.py)
# Each operator's samples once more, in forms that lie above the fronts; tests/fronts calls them all.
batteries=(tests/autograd/test_second_derivatives.py tests/symbol/test_{golden,np_graphs,operators}.py)
# What the native library does, or Python's planning, whichever front calls it.
below=(tests/engine/test_native.py tests/env/test_{numerics,onednn,tuning}.py
  tests/numpy/calls/test_vector_lengths.py tests/runtime/test_{many_threads,onednn}.py)

with_front() {
  local front=$1 setting=$2 code closing
  shift 2
  env "$setting" "$python" -m pytest -q --color=$color "$@" | tee "$log"
  code=${PIPESTATUS[0]}
  [ "$code" = 0 ] || status=1
  closing=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '(passed|failed|skipped|error).* in [0-9.]+s' | tail -1)
  results+=("== $front front: ${closing:-pytest ended early with status $code}")
}

echo "== all tests with the Cython front"
with_front Cython MXNET_ENFORCE_CYTHON=1 "$@"
if [ "${ALL:-0}" = 1 ]; then
  echo "== all tests with the ctypes front"
  with_front ctypes MXNET_ENABLE_CYTHON=0 "$@"
else
  echo "== the tests of what a front provides with the ctypes front"
  with_front ctypes MXNET_ENABLE_CYTHON=0 "$@" \
    "${batteries[@]/#/--ignore=}" "${below[@]/#/--ignore=}" "${of_a_front[@]}"
fi
printf '\n'
printf '%s\n' "${results[@]}"
exit $status
