"""The engine without Python: everything at once on plain memory, and how fast it is."""


def test_stress(run_native):
    """Programs of 100,000 operations on 50 variables among other things, on each engine."""
    status, output = run_native("stress", 3400)
    assert (status, output) == (0, "done\n")


def test_half_a_million_operations_a_second_on_one_core(run_native):
    status, output = run_native("throughput")
    assert status == 0
    assert min(map(float, output.split())) >= 5e5
