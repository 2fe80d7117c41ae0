"""The contenders of the inference table; see `benchmarks/bench_infer.py`."""
