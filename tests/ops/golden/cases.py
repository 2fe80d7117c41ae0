"""All cases by name, ``family/function/case``."""

from . import arrays, indexing, linalg, loss, norm, optimizer, softmax, upsampling

FAMILIES = (arrays, indexing, linalg, loss, norm, optimizer, softmax, upsampling)

ALL = {
    f"{family.__name__.rpartition('.')[2]}/{function.__name__}/{name}": case
    for family in FAMILIES
    for function in family.FAMILY
    for name, case in function()
}
