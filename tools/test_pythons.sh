#!/bin/bash
# A sample of tests on each other Python of this machine that mxcy supports, in copies of the tree:
# tools/test_pythons.sh PYTHON, the one that needs no test any more. They share the JOBS.
# The last lines tell how each one went.
root=$(cd "$(dirname "$0")/.." && pwd)
tried=$("${1:?which Python has been tried?}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=() others=() status=0

# The executable of a version that really runs (shims of version managers may not), or nothing.
python_of() {
  local candidate
  for candidate in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if "$candidate" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# The library does not depend on Python: where the tree has it, only the extensions are compiled.
prepare() {
  mkdir "$2" && cd "$2" &&
    tar -C "$root" --exclude='./.[glpv]*' --exclude='*.cpython-*.so' -cf - . | tar -xf - &&
    "$1" -m venv .venv && .venv/bin/python -m pip install -qq --no-compile -e '.[test]'
}

# What a version of Python may change: signatures and calls, pickles, files, processes, threads,
# imports, introspection, texts of errors.
try() {
  (prepare "$1" "$2") || return
  cd "$2" || return
  .venv/bin/python -m pytest -q -n "$jobs" tests/smoke tests/runtime tests/io tests/custom tests/module \
    tests/autograd/test_autograd.py tests/symbol/test_{json,names,symbol}.py tests/numpy/{arrays,types} \
    tests/ndarray/test_{array,creation,function_calls,indexing,pickles}.py tests/gluon/test_trainer.py \
    tests/gluon/blocks/test_{block,hybridize}.py tests/gluon/data/test_{loaders,workers}.py &&
    MXNET_ENABLE_CYTHON=0 .venv/bin/python -m pytest -q -n "$jobs" tests/smoke \
      tests/autograd/test_autograd.py tests/ndarray/test_{array,function_calls,indexing}.py
}

for version in 3.11 3.12 3.13; do
  [ $version = "$tried" ] && continue
  python=$(python_of $version)
  if [ -z "$python" ]; then
    results+=("== Python $version: not tried, this machine has none")
    continue
  fi
  others+=("$version $python")
done

jobs=$((${#others[@]} ? ${JOBS:-2} / ${#others[@]} : 1))
jobs=$((jobs ? jobs : 1))
for other in "${others[@]}"; do
  read -r version python <<<"$other"
  (try "$python" "$work/$version"; echo "$? $SECONDS" >"$work/$version.ended") >"$work/$version.log" 2>&1 &
done
wait
for other in "${others[@]}"; do
  read -r version python <<<"$other"
  read -r code seconds <"$work/$version.ended"
  printf '\n== Python %s, %s\n' "$version" "$python"
  cat "$work/$version.log"
  verdict=passed
  [ "$code" = 0 ] || verdict=FAILED status=1
  results+=("== Python $version: $verdict ($seconds s)")
done

printf '\n'
printf '%s\n' "${results[@]}"
exit $status
