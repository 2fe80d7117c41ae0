"""The engine without Python: everything at once on plain memory."""


def test_stress(run_native):
    """Run stress.cc on each engine, with programs of 100,000 operations on 50 variables."""
    status, output = run_native("stress", 3400)
    assert (status, output) == (0, "done\n")
