#!/bin/bash
# A sample of tests on each other Python of this machine that mxcy supports, in copies of the tree:
# tools/test_pythons.sh PYTHON, the one that needs no test any more.
# The last lines tell how each one went.
root=$(cd "$(dirname "$0")/.." && pwd)
tried=$("${1:?which Python has been tried?}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-3}
results=() status=0

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
    "$1" -m venv .venv && .venv/bin/python -m pip install -qq -e '.[test]'
}

# What does not depend on Python: all samples of all operators, and what the native library does.
below=(tests/autograd/test_second_derivatives.py tests/symbol/test_{golden,np_graphs,operators}.py
  tests/runtime/test_{many_threads,onednn,storage}.py tests/module/test_examples.py)

try() {
  cd "$1" || return
  .venv/bin/python -m pytest -q -n "$jobs" "${below[@]/#/--ignore=}" tests/smoke tests/runtime \
    tests/autograd tests/symbol tests/module tests/io tests/numpy/{arrays,types} \
    tests/gluon/blocks/test_block.py tests/gluon/blocks/test_hybridize.py \
    tests/gluon/data/test_loaders.py tests/gluon/data/test_workers.py \
    tests/gluon/test_trainer.py &&
    MXNET_ENABLE_CYTHON=0 .venv/bin/python -m pytest -q -n "$jobs" "${below[@]/#/--ignore=}" \
      tests/smoke tests/autograd
}

# Installations spend much of their time on one core: all of them at once.
versions=() preparations=()
for version in 3.11 3.12 3.13; do
  [ $version = "$tried" ] && continue
  python=$(python_of $version)
  if [ -z "$python" ]; then
    results+=("== Python $version: not tried, this machine has none")
    continue
  fi
  printf '== Python %s, %s\n' $version "$python"
  prepare "$python" "$work/$version" &
  versions+=($version) preparations+=($!)
done

for i in "${!versions[@]}"; do
  version=${versions[i]}
  printf '\n== tests on Python %s\n' "$version"
  verdict=passed
  wait "${preparations[i]}" && (try "$work/$version") || { verdict=FAILED status=1; }
  results+=("== Python $version: $verdict")
done

printf '\n'
printf '%s\n' "${results[@]}"
exit $status
