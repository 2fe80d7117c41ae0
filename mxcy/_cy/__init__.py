"""The Cython front: arrays, memory pools, cached calls, the autograd tape and kernels."""

import mxcy._cy.oplib  # noqa: F401 - registers its kernels
import mxcy._cy.slices  # noqa: F401 - registers indexing of arrays
