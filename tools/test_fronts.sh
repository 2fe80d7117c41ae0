#!/bin/bash
# All tests with each front: tools/test_fronts.sh PYTHON [options of pytest]
# The second front is tried even if the first one fails; the last lines tell both results.
python=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
color=$([ -t 1 ] && echo yes || echo no)
status=0 results=()

for front in Cython ctypes; do
  setting=$([ $front = Cython ] && echo MXNET_ENFORCE_CYTHON=1 || echo MXNET_ENABLE_CYTHON=0)
  echo "== all tests with the $front front"
  env "$setting" "$python" -m pytest -q --color=$color "$@" | tee "$log"
  code=${PIPESTATUS[0]}
  [ "$code" = 0 ] || status=1
  closing=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '(passed|failed|skipped|error).* in [0-9.]+s' | tail -1)
  results+=("== $front front: ${closing:-pytest ended early with status $code}")
done
printf '\n'
printf '%s\n' "${results[@]}"
exit $status
