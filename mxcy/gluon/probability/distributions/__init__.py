"""Probability distributions."""

from mxcy._base.listing import listing
from mxcy.gluon.probability.distributions import constraint  # noqa: F401
from mxcy.gluon.probability.distributions.bernoulli import Bernoulli
from mxcy.gluon.probability.distributions.beta import Beta
from mxcy.gluon.probability.distributions.binomial import Binomial
from mxcy.gluon.probability.distributions.categorical import Categorical
from mxcy.gluon.probability.distributions.cauchy import Cauchy
from mxcy.gluon.probability.distributions.chi2 import Chi2
from mxcy.gluon.probability.distributions.dirichlet import Dirichlet
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.divergence import empirical_kl, kl_divergence, register_kl
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.distributions.exponential import Exponential
from mxcy.gluon.probability.distributions.fishersnedecor import FisherSnedecor
from mxcy.gluon.probability.distributions.gamma import Gamma
from mxcy.gluon.probability.distributions.geometric import Geometric
from mxcy.gluon.probability.distributions.gumbel import Gumbel
from mxcy.gluon.probability.distributions.half_cauchy import HalfCauchy
from mxcy.gluon.probability.distributions.half_normal import HalfNormal
from mxcy.gluon.probability.distributions.independent import Independent
from mxcy.gluon.probability.distributions.laplace import Laplace
from mxcy.gluon.probability.distributions.multinomial import Multinomial
from mxcy.gluon.probability.distributions.multivariate_normal import MultivariateNormal
from mxcy.gluon.probability.distributions.negative_binomial import NegativeBinomial
from mxcy.gluon.probability.distributions.normal import Normal
from mxcy.gluon.probability.distributions.one_hot_categorical import OneHotCategorical
from mxcy.gluon.probability.distributions.pareto import Pareto
from mxcy.gluon.probability.distributions.poisson import Poisson
from mxcy.gluon.probability.distributions.relaxed_bernoulli import RelaxedBernoulli
from mxcy.gluon.probability.distributions.relaxed_one_hot_categorical import (
    RelaxedOneHotCategorical,
)
from mxcy.gluon.probability.distributions.studentT import StudentT
from mxcy.gluon.probability.distributions.transformed_distribution import TransformedDistribution
from mxcy.gluon.probability.distributions.uniform import Uniform
from mxcy.gluon.probability.distributions.utils import (
    cached_property,
    constraint_check,
    digamma,
    erf,
    erfinv,
    gammaln,
    logit2prob,
    prob2logit,
    sample_n_shape_converter,
)
from mxcy.gluon.probability.distributions.weibull import Weibull

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "Laplace",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "cached_property",
    "constraint_check",
    "digamma",
    "empirical_kl",
    "erf",
    "erfinv",
    "gammaln",
    "kl_divergence",
    "logit2prob",
    "prob2logit",
    "register_kl",
    "sample_n_shape_converter",
]

__dir__ = listing(__name__)
