"""The Cython front: arrays, memory pools, cached calls, the autograd tape and kernels."""

import mxcy._cy.oplib  # noqa: F401 - enters its kernels in the kernel table
import mxcy._cy.slices  # noqa: F401 - enters how arrays read and write by keys
