"""Calls of the optimizer updates, each with the new weight written over the old one."""

from .case import Case, array, draw

BOTH = ({}, {"wd": 0.3, "rescale_grad": 2.0, "clip_gradient": 0.4})
SHAPE = (3, 5)


def _weight(seed=0, shape=SHAPE, dtype="float32"):
    return draw(*shape, seed=seed, dtype=dtype)


def _state(seed, low=-1.0, shape=SHAPE):
    return draw(*shape, seed=seed, low=low)


def _case(op, states, tries=BOTH, mixed=False, extra=(), dtype="float32", **attrs):
    """Cases of an update; `states` gives the lowest value of each state."""
    first = [_weight(0, dtype=dtype), _weight(1, dtype=dtype)]
    inputs = [*first, *(_state(2 + i, low) for i, low in enumerate(states))]
    if mixed:
        inputs.append(first[0].astype("float32"))
    changed = tuple(range(2, len(inputs)))
    for more in tries:
        name = f"{op}-{'clipped' if more.get('clip_gradient') else 'plain'}-{dtype}"
        yield name, Case(op, *inputs, *extra, states=changed, out=(0,), **attrs, **more)


def single():
    yield from _case("sgd_update", (), lr=0.1)
    yield from _case("sgd_mom_update", (-1,), lr=0.1, momentum=0.9)
    yield from _case("mp_sgd_update", (), mixed=True, dtype="float16", lr=0.1)
    yield from _case("mp_sgd_mom_update", (-1,), mixed=True, dtype="float16", lr=0.1, momentum=0.9)
    yield from _case("nag_mom_update", (-1,), lr=0.1, momentum=0.9)
    yield from _case("mp_nag_mom_update", (-1,), mixed=True, dtype="float16", lr=0.1, momentum=0.9)
    yield from _case("signsgd_update", (), lr=0.1)
    yield from _case("signum_update", (-1,), lr=0.1, momentum=0.9, wd_lh=0.2)
    yield from _case("adam_update", (-1, 0.1), lr=0.1)
    yield from _case("rmsprop_update", (0.1,), lr=0.1, epsilon=1e-3)
    yield from _case("rmsprop_update", (0.1,), BOTH[:1], lr=0.1, clip_weights=0.3)
    yield from _case("rmspropalex_update", (1.5, -1, -1), lr=0.1, epsilon=1.0)
    yield from _case("ftrl_update", (-1, 0.1), lr=0.1, lamda1=0.2, beta=1.5)
    for more in ({}, {"wd": 0.3, "rescale_grad": 2.0, "clip_grad": 0.4}):
        yield from _case(
            "ftml_update", (0.5, 0.1, -1), (more,), lr=0.1, t=3, beta2=0.9, epsilon=1e-3
        )


def adamw():
    clipped = ({"wd": 0.3, "clip_gradient": 0.4},)
    for scale in (1.0, 2.0, 0.0, float("nan"), float("inf")):
        actual = _case(
            "_internal._adamw_update", (-1, 0.1), clipped, extra=(array(scale),), lr=0.1, eta=0.7
        )
        yield from ((f"{name}-{scale}", case) for name, case in actual)
    yield from _case(
        "_internal._mp_adamw_update",
        (-1, 0.1),
        clipped,
        True,
        (array(2.0),),
        "float16",
        lr=0.1,
        eta=0.7,
    )
    for mixed in (False, True):
        yield from _case(
            f"_internal._{'mp_' * mixed}adabelief_update",
            (-1, 0.1),
            clipped,
            mixed,
            (array(2.0),),
            "float16" if mixed else "float32",
            lr=0.1,
            eta=0.7,
            version=2,
            epsilon=1e-3,
        )


def lamb():
    for bias_correction in (True, False):
        for name, case in _case(
            "lamb_update_phase1",
            (-1, 0.1),
            t=2,
            bias_correction=bias_correction,
            tries=({"wd": 0.1}, {**BOTH[1]}),
            epsilon=1e-3,
        ):
            case.out, case.states = (), (2, 3)
            yield f"{name}-{bias_correction}", case
    half = [_weight(s, dtype="float16") for s in (0, 1)]
    master = half[0].astype("float32")
    yield (
        "mp_phase1",
        Case(
            "mp_lamb_update_phase1",
            *half,
            _state(2),
            _state(3, 0.1),
            master,
            t=2,
            wd=0.1,
            epsilon=1e-3,
            states=(2, 3, 4),
        ),
    )
    for i, (r1, r2) in enumerate(((2.0, 3.0), (0.0, 3.0), (2.0, 0.0), (9.0, 1.0), (0.1, 1.0))):
        for lower, upper in ((-1, -1), (0.5, 4.0)):
            yield (
                f"phase2-{i}-{lower}",
                Case(
                    "lamb_update_phase2",
                    _weight(),
                    _weight(1),
                    array(r1),
                    array(r2),
                    lr=0.1,
                    lower_bound=lower,
                    upper_bound=upper,
                    out=(0,),
                ),
            )
    # MXNet does not update weight32, which loses every step; mxcy updates it.
    yield (
        "mp_phase2",
        Case(
            "mp_lamb_update_phase2",
            half[0],
            _weight(1),
            array(2.0),
            array(3.0),
            master,
            lr=0.1,
            out=(0,),
        ),
    )


def lars():
    for scale in (1.0, 2.0):
        yield (
            f"multi_lars-{scale}",
            Case(
                "multi_lars",
                array(0.1, 0.2, 0.3),
                array(4, 0, 9),
                array(16, 1, 0),
                array(0.01, 0.02, 0.03),
                eta=0.5,
                eps=1e-3,
                rescale_grad=scale,
            ),
        )
    for dtype in ("float32", "float64"):
        arrays = _weight(dtype=dtype), _weight(1, (7,), dtype)
        yield f"multi_sum_sq-{dtype}", Case("multi_sum_sq", *arrays, num_arrays=2)
    yield (
        "reset_arrays",
        Case("reset_arrays", _weight(), _weight(1, (7,)), num_arrays=2, states=(0, 1)),
    )


def _turns(states, mixed=False):
    """Inputs of two weights: weight, gradient and states, interleaved."""
    inputs = []
    for k, shape in enumerate((SHAPE, (7,))):
        dtype = "float16" if mixed else "float32"
        weight = _weight(10 * k, shape, dtype)
        inputs += [weight, _weight(10 * k + 1, shape, dtype)]
        inputs += [_state(10 * k + 2 + i, low, shape) for i, low in enumerate(states)]
        if mixed:
            inputs.append(weight.astype("float32"))
    return inputs


def _multi(op, states, extra=(), **attrs):
    for mixed in (False, True):
        inputs = _turns(states, mixed)
        per = len(inputs) // 2
        changed = tuple(i for i in range(len(inputs)) if i % per >= 2)
        name = op.format("mp_" if mixed else "")
        yield (
            name,
            Case(
                name, *inputs, *extra, states=changed, out=(0, per), tol=10 if mixed else 1, **attrs
            ),
        )


def multi():
    rates = {"lrs": (0.1, 0.2), "wds": (0.3, 0.4)}
    shared = {"num_weights": 2, "rescale_grad": 2.0, "clip_gradient": 0.4}
    arrays = (array(0.1, 0.2), array(0.3, 0.4))
    yield from _multi("multi_{}sgd_update", (), **rates, **shared)
    yield from _multi("multi_{}sgd_mom_update", (-1,), momentum=0.9, **rates, **shared)
    yield from _multi("preloaded_multi_{}sgd_update", (), arrays, **shared)
    yield from _multi("preloaded_multi_{}sgd_mom_update", (-1,), arrays, momentum=0.9, **shared)
    etas = {**rates, "etas": (0.7, 0.6), "num_weights": 2, "clip_gradient": 0.4, "epsilon": 1e-3}
    yield from _multi("_internal._multi_{}adamw_update", (-1, 0.1), (array(2.0),), **etas)
    yield from _multi(
        "_internal._multi_{}adabelief_update", (-1, 0.1), (array(2.0),), version=2, **etas
    )
    norms = {
        "learning_rates": (0.1, 0.2),
        "wds": (0.3, 0.4),
        "step_count": (1, 3),
        "num_tensors": 2,
        "epsilon": 1e-3,
        "rescale_grad": 2.0,
    }
    for name, bounds in (("free", {}), ("bound", {"lower_bound": 0.5, "upper_bound": 1.0})):
        for clip in (-1.0, 0.3):
            keywords = {**norms, **bounds, "clip_gradient": clip}
            for op, version in (("lamb", 1), ("lans", 2)):
                cases = _multi(
                    f"_internal._multi_{{}}{op}_update", (-1, 0.1), version=version, **keywords
                )
                yield from ((f"{full}-{name}-{clip}", case) for full, case in cases)
    yield from _multi("_internal._multi_{}lamb_update", (-1, 0.1), bias_correction=False, **norms)


FAMILY = (single, adamw, lamb, lars, multi)
