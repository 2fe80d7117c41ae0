"""Probability distributions, transformations, divergences and stochastic blocks."""

# Written by `python -m tools.stubs --write`.

from typing import Any
from mxcy.gluon.probability import (
    block as block, distributions as distributions,
)
from mxcy.gluon.probability.block.stochastic_block import (
    StochasticBlock as StochasticBlock, StochasticSequential as StochasticSequential,
)
from mxcy.gluon.probability.distributions.bernoulli import (
    Bernoulli as Bernoulli,
)
from mxcy.gluon.probability.distributions.beta import (
    Beta as Beta,
)
from mxcy.gluon.probability.distributions.binomial import (
    Binomial as Binomial,
)
from mxcy.gluon.probability.distributions.categorical import (
    Categorical as Categorical,
)
from mxcy.gluon.probability.distributions.cauchy import (
    Cauchy as Cauchy,
)
from mxcy.gluon.probability.distributions.chi2 import (
    Chi2 as Chi2,
)
from mxcy.gluon.probability.distributions.dirichlet import (
    Dirichlet as Dirichlet,
)
from mxcy.gluon.probability.distributions.distribution import (
    Distribution as Distribution,
)
from mxcy.gluon.probability.distributions.divergence import (
    empirical_kl as empirical_kl, kl_divergence as kl_divergence, register_kl as register_kl,
)
from mxcy.gluon.probability.distributions.exp_family import (
    ExponentialFamily as ExponentialFamily,
)
from mxcy.gluon.probability.distributions.exponential import (
    Exponential as Exponential,
)
from mxcy.gluon.probability.distributions.fishersnedecor import (
    FisherSnedecor as FisherSnedecor,
)
from mxcy.gluon.probability.distributions.gamma import (
    Gamma as Gamma,
)
from mxcy.gluon.probability.distributions.geometric import (
    Geometric as Geometric,
)
from mxcy.gluon.probability.distributions.gumbel import (
    Gumbel as Gumbel,
)
from mxcy.gluon.probability.distributions.half_cauchy import (
    HalfCauchy as HalfCauchy,
)
from mxcy.gluon.probability.distributions.half_normal import (
    HalfNormal as HalfNormal,
)
from mxcy.gluon.probability.distributions.independent import (
    Independent as Independent,
)
from mxcy.gluon.probability.distributions.laplace import (
    Laplace as Laplace,
)
from mxcy.gluon.probability.distributions.multinomial import (
    Multinomial as Multinomial,
)
from mxcy.gluon.probability.distributions.multivariate_normal import (
    MultivariateNormal as MultivariateNormal,
)
from mxcy.gluon.probability.distributions.negative_binomial import (
    NegativeBinomial as NegativeBinomial,
)
from mxcy.gluon.probability.distributions.normal import (
    Normal as Normal,
)
from mxcy.gluon.probability.distributions.one_hot_categorical import (
    OneHotCategorical as OneHotCategorical,
)
from mxcy.gluon.probability.distributions.pareto import (
    Pareto as Pareto,
)
from mxcy.gluon.probability.distributions.poisson import (
    Poisson as Poisson,
)
from mxcy.gluon.probability.distributions.relaxed_bernoulli import (
    RelaxedBernoulli as RelaxedBernoulli,
)
from mxcy.gluon.probability.distributions.relaxed_one_hot_categorical import (
    RelaxedOneHotCategorical as RelaxedOneHotCategorical,
)
from mxcy.gluon.probability.distributions.studentT import (
    StudentT as StudentT,
)
from mxcy.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution as TransformedDistribution,
)
from mxcy.gluon.probability.distributions.uniform import (
    Uniform as Uniform,
)
from mxcy.gluon.probability.distributions.utils import (
    constraint_check as constraint_check, digamma as digamma, erf as erf, erfinv as erfinv,
    gammaln as gammaln, logit2prob as logit2prob, prob2logit as prob2logit,
    sample_n_shape_converter as sample_n_shape_converter,
)
from mxcy.gluon.probability.distributions.weibull import (
    Weibull as Weibull,
)
from mxcy.gluon.probability.functions import (
    cached_property as cached_property,
)
from mxcy.gluon.probability.transformation.domain_map import (
    domain_map as domain_map,
)
from mxcy.gluon.probability.transformation.transformation import (
    AbsTransform as AbsTransform, AffineTransform as AffineTransform,
    ComposeTransform as ComposeTransform, ExpTransform as ExpTransform,
    PowerTransform as PowerTransform, SigmoidTransform as SigmoidTransform,
    SoftmaxTransform as SoftmaxTransform, TransformBlock as TransformBlock,
    Transformation as Transformation,
)

biject_to: Any
transform_to: Any
