"""What this front asks of the layers above it; see `mxcy._library.services.Services`."""

__all__ = ["services", "use_services"]


class _Later:
    """The fields of `Services`, once `use_services` was called."""


services = _Later()


def use_services(above):
    """Set the services of the higher layers.

    Parameters
    ----------
    above : mxcy._library.services.Services
    """
    for name in above.__slots__:
        setattr(services, name, getattr(above, name))
