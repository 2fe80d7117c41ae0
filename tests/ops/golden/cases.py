"""All cases by name, ``family/function/case``."""

from . import linalg, loss, norm, optimizer, softmax, upsampling

ALL = {
    f"{family.__name__.rpartition('.')[2]}/{function.__name__}/{name}": case
    for family in (linalg, loss, norm, optimizer, softmax, upsampling)
    for function in family.FAMILY
    for name, case in function()
}
