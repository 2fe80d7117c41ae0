"""`mx.contrib.sym`: alias of `mx.sym.contrib`, under its oldest path."""

from mxcy._base.suggestions import no_attribute
from mxcy.symbol import contrib


def __getattr__(name):
    function = getattr(contrib, name, None)
    if function is None:
        raise no_attribute(__name__, name)
    return function


def __dir__():
    return dir(contrib)
