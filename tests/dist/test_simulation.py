"""The scheduler on a simulated clock: costs computed by hand, and the command-line program."""

import json

import pytest

from mxcy.dist.simulated.links import WAYS, Links
from mxcy.dist.simulated.simulation import Step, simulate
from mxcy.tools import simulate_dist

_MB = 10**6
_ALPHA, _BETA = 1e-3, 1e-9  # a message takes a millisecond, and so does a megabyte


def links(ranks, per_host=1, way="doubling", **settings):
    return Links(ranks, per_host, _ALPHA, _BETA, _ALPHA / 10, _BETA / 10, way=way, **settings)


def seconds(step, one, bound=4 * _MB, **settings):
    return simulate(step, one, bound, steps=1, **settings)["seconds"]


def test_one_sum():
    step = Step([8 * _MB], [0.01], 0.01)
    assert seconds(step, links(2)) == pytest.approx(0.01 + 2e-3 + 8e-3)
    assert seconds(step, links(8)) == pytest.approx(0.01 + 6e-3 + 2 * 8e-3 * 7 / 8)
    assert seconds(step, links(8, way="ring")) == pytest.approx(0.01 + 14e-3 + 14e-3)
    assert seconds(step, links(1)) == pytest.approx(0.01)


def test_ranks_that_share_a_card():
    step = Step([8 * _MB], [0.0], 0.0)
    inside, between = 2 * 1e-4 + 8e-4, 2 * 1e-3 + 8e-3  # two hosts of two ranks
    assert seconds(step, links(4, 2, "two-level")) == pytest.approx(inside + between)
    assert seconds(step, links(4, 2)) == pytest.approx(inside + between + 8e-3)
    assert seconds(step, links(4, 4)) == pytest.approx(4e-4 + 12e-4)


def test_sums_are_hidden_behind_what_is_computed():
    """Only the last gradient's sum is exposed, as gradients are ready 20 ms apart."""
    step = Step([4 * _MB] * 4, [0.08, 0.06, 0.04, 0.02], 0.08)
    told = simulate(step, links(2), 4 * _MB, steps=1)
    assert told["seconds"] == pytest.approx(0.08 + 2e-3 + 4e-3)
    assert told["sums"] == pytest.approx(2e-3 + 16e-3)  # one after the other on the network card
    assert told["hidden"] == pytest.approx(12 / 18)
    assert told["buckets"] == 4 and 0.9 < told["efficiency"] < 1


def test_small_gradients_share_buckets_and_agree():
    """A bucket of several keys first exchanges which ranks have them: another message per rank."""
    step = Step([_MB] * 8, [0.0] * 8, 0.0)
    told = simulate(step, links(2, copy=_BETA), 4 * _MB, steps=1)
    assert told["buckets"] == 3  # the first bucket is closed at an eighth of the size
    # masks until 2 ms; copies of 3 and 4 MB until 9; sums from 7 to 10 and 11 to 15; a copy of 4 MB
    assert told["seconds"] == pytest.approx(0.019, rel=1e-3)
    assert seconds(step, links(2)) == pytest.approx(2 * 2e-3 + 7e-3, rel=1e-3)


def test_pushes_delay_what_is_computed_after_them():
    """Gradients are ready at 21, 42 and 63 ms, of which a millisecond each is that of pushing."""
    step = Step([4 * _MB] * 3, [0.06, 0.04, 0.02], 0.06, push=1e-3)
    assert seconds(step, links(2)) == pytest.approx(0.063 + 2e-3 + 4e-3)


def test_copies_of_large_sums_delay_the_next_one():
    step = Step([8 * _MB] * 2, [0.0, 0.0], 0.0)
    kept = links(2, 2, kept=4 * _MB, keep=_BETA)
    assert seconds(step, kept) == pytest.approx(2e-4 + 1.6e-3 + 2 * 8e-3)
    assert seconds(step, links(2, 2, kept=8 * _MB, keep=_BETA)) == pytest.approx(2e-4 + 1.6e-3)


def test_several_steps_and_jitter():
    step = Step([4 * _MB] * 2, [0.02, 0.01], 0.02, update=0.005)
    calm = simulate(step, links(4), 4 * _MB, steps=3)["seconds"]
    assert calm == pytest.approx(seconds(step, links(4)))
    uneven = simulate(step, links(4), 4 * _MB, steps=3, jitter=0.3, seed=5)
    assert uneven["seconds"] > calm
    assert uneven == simulate(step, links(4), 4 * _MB, steps=3, jitter=0.3, seed=5)


@pytest.mark.parametrize(
    "terms, text",
    [
        (([], [], 1.0), "0 sizes"),
        (([4], [0.0, 1.0], 1.0), "1 sizes and 2 times"),
        (([0], [0.0], 1.0), "must be positive"),
        (([4], [-1.0], 1.0), "not below 0"),
        (([4], [1.0], 1.0, 0.0, -1.0), "not below 0"),
    ],
)
def test_steps_that_make_no_sense(terms, text):
    with pytest.raises(ValueError, match=text):
        Step(*terms)


def test_hosts_that_make_no_sense():
    with pytest.raises(ValueError, match="10 ranks do not fill hosts of 4"):
        links(10, 4)
    with pytest.raises(ValueError, match="way must be one of doubling, ring, two-level"):
        links(2, way="star")


def plan(tmp_path, capsys, *arguments, **changes):
    step = {"sizes": [8 * _MB] * 3, "ready": [0.03, 0.02, 0.01], "compute": 0.03, "update": 0.001}
    path = tmp_path / "step.json"
    path.write_text(json.dumps({**step, **changes}))
    assert simulate_dist.main(["--trace", str(path), *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_plan(tmp_path, capsys):
    lines = plan(tmp_path, capsys, "--ranks", "64", "--per-host", "8")
    assert lines[0] == "64 ranks on 8 hosts, 3 gradients of 24.0 MB, 31.0 ms of a step alone"
    rows = [line.split() for line in lines[2:-1]]
    assert [row[0] for row in rows] == [way for way in WAYS for _ in range(2)]
    least = min(float(row[4]) for row in rows)
    way = next(row[0] for row in rows if float(row[4]) == least)
    assert lines[-1].startswith(f"best: {way}, MXCY_DIST_BUCKET_BYTES=")
    flat, whole = float(rows[0][4]), float(rows[4][4])  # eight ranks share a network card
    assert whole < flat and least > 31


def test_plan_refuses(tmp_path, capsys):
    for arguments, changes, text in (
        (["--ranks", "9", "--per-host", "2"], {}, "do not fill"),
        (["--ranks", "0"], {}, "--ranks must be at least 1"),
        (["--bucket-bytes", "0"], {}, "--bucket-bytes must be"),
        ([], {"sizes": []}, "0 sizes"),
    ):
        with pytest.raises(SystemExit):
            plan(tmp_path, capsys, *arguments, **changes)
        assert text in capsys.readouterr().err
    with pytest.raises(SystemExit):
        simulate_dist.main(["--trace", str(tmp_path / "none.json")])
