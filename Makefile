# The two commands of a newcomer are `make train` and `make test`; the rest is for developers.
ISA ?= v3
PYTHON ?= python3

.PHONY: dev
dev:
	nice $(PYTHON) setup.py -q build_ext --inplace --isa $(ISA)
