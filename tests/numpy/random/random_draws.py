"""Draws of mx.np.random compared with MXNet's, from mxcy or MXNet."""

__all__ = ["all_draws"]

SEEDS = (0, 7, 2**31 + 5)
SIZES = ((), (5,), (9, 13))
DRAWS = {
    "uniform": "r.uniform(-1.5, 3.0, size)",
    "uniform_f8": "r.uniform(-1.5, 3.0, size, dtype='float64')",
    "uniform_arrays": "r.uniform(np.array([0.1, 3]), np.array([2.0, 4]), (*size, 2))",
    "normal": "r.normal(0.5, 2.0, size)",
    "lognormal": "r.lognormal(0.5, 1.5, size)",
    "exponential": "r.exponential(1.7, size)",
    "weibull": "r.weibull(1.7, size)",
    "pareto": "r.pareto(1.7, size)",
    "power": "r.power(1.7, size)",
    "rayleigh": "r.rayleigh(1.7, size)",
    "gumbel": "r.gumbel(0.5, 1.7, size)",
    "logistic": "r.logistic(0.5, 1.7, size)",
    "laplace": "r.laplace(0.5, 1.7, size)",
    "gamma": "r.gamma(2.5, 1.5, size)",
    "gamma_below_one": "r.gamma(0.4, 1.5, size, dtype='float64')",
    "chisquare": "r.chisquare(3.0, size)",
    "beta": "r.beta(0.7, 2.0, size)",
    "f": "r.f(3.0, 4.0, size)",
    "multinomial": "r.multinomial(20, [0.1, 0.2, 0.7], size)",
    "multinomial_array": "r.multinomial(20, np.array([0.1, 0.2, 0.7]), size)",
    "choice": "r.choice(1000, size)",
    "choice_once_of_many": "r.choice(1000, size, replace=False)",
    "choice_once_of_few": "r.choice(120, size, replace=False)",
    "randint": "r.randint(-5, 1000, size)",
    "bernoulli": "nr.bernoulli(prob=0.3, size=size)",
    "bernoulli_logit": "nr.bernoulli(logit=0.3, size=size)",
}


def all_draws(mx):
    """Name and values of each draw; the next element shows how many words it consumed."""
    for name, text in DRAWS.items():
        for seed in SEEDS:
            for size in SIZES:
                n = 1
                for extent in size:
                    n *= extent
                scope = {"np": mx.np, "r": mx.np.random, "nr": mx.npx.random, "size": size, "n": n}
                mx.np.random.seed(seed)
                drawn = eval(text, {"min": min}, scope)
                yield f"{name}-{seed}-{n}", drawn.asnumpy()
                yield f"{name}-{seed}-{n}-next", mx.np.random.uniform().asnumpy()
