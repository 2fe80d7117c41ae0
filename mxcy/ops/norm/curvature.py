"""Second-order gradients of normalisations, composed of operators."""

__all__ = ["Curvature"]


class Curvature:
    """Derivatives of the gradients of ``out = gamma * n + beta``, where n is normalised data.

    With u = grad gamma, the gradient of the data is J u, where J, the Jacobian of n with respect to
    the data, is symmetric: J v = (v - mean(v) - n mean(v n)) / std. Arrays broadcast against the
    data.

    Parameters
    ----------
    F : namespace of operators
    scaled, inverse : array
        n, and the reciprocal standard deviations.
    means : callable or None
        Means of an array over the normalised axes; None if mean and deviation do not depend on the
        data.
    """

    def __init__(self, F, scaled, inverse, means):
        self._times, self._minus, self._plus = F.broadcast_mul, F.broadcast_sub, F.broadcast_add
        self.scaled, self.inverse, self._means = scaled, inverse, means

    def slope(self, v):
        """J v."""
        if self._means is not None:
            inner = self._times(self.scaled, self._means(v * self.scaled))
            v = self._minus(v, self._means(v)) - inner
        return self._times(v, self.inverse)

    def gradients(self, by_data, by_gamma, by_beta, grad, gamma):
        """Return the gradients of grad, of the data, and of gamma before summation.

        The first three arguments are head gradients of the gradients of data, gamma and beta;
        `by_gamma` and `gamma` are None if gamma is one.
        """
        times, scaled = self._times, self.scaled
        moved = self.slope(by_data)
        inner, to_grad, to_gamma, to_data = grad, moved, None, None
        if gamma is not None:
            inner, to_grad, to_gamma = times(grad, gamma), times(moved, gamma), grad * moved
            to_grad = to_grad + times(scaled, by_gamma)
            to_data = self.slope(times(grad, by_gamma))
        to_grad = self._plus(to_grad, by_beta)
        if self._means is not None:
            crossed = times(by_data, self._means(inner * scaled))
            crossed = crossed + times(inner, self._means(by_data * scaled))
            total = times(scaled, self._means(by_data * self.slope(inner))) + self.slope(crossed)
            bent = times(total, self.inverse)
            to_data = -bent if to_data is None else to_data - bent
        return to_grad, to_data, to_gamma
