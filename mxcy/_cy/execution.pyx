"""Execution of single calls with a chosen kernel, for tests and tools."""
from libc.stdint cimport int32_t

from mxcy._cy.homes cimport home_of
from mxcy._cy.invoke cimport clashes
from mxcy._cy.native cimport MX_ADD, MX_NULL, MX_TAKES_ADD, MX_WRITE
from mxcy._cy.ndarray cimport NDArrayBase, make_array
from mxcy._cy.running cimport run
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport Shape
from mxcy._cy.variants cimport CALL_NUMBERS, OpHandle, Prepared, prepare_for

from mxcy._cy.variants import bind


def execute(op, tuple inputs, dict attrs, list outputs=None, list reqs=None, kernel=None,
            train=False):
    """Run one call with a chosen kernel, without caches or tape; for tests and tools.

    Synchronous.

    Parameters
    ----------
    op : Op
    inputs : tuple of NDArrayBase
    attrs : dict
    outputs : list of NDArrayBase, optional
        All outputs, including hidden ones; allocated by default.
    reqs : list of int, optional
        0 null, 1 write, 3 add for each output.
    kernel : str, optional
        The kernel's name, or ``"ref"``.

    Returns
    -------
    (list of NDArrayBase, str) : all outputs, and the kernel that ran
    """
    cdef OpHandle handle = bind(op)
    cdef double numbers[CALL_NUMBERS]
    cdef int32_t writes[64]
    cdef Prepared prepared
    cdef int i
    values = op.schema.intern(op.name, attrs)
    if op.uses_mode:
        values = values.with_values(("train",), (train,))
    for i, number in enumerate(op.schema.dynamic_values(op.name, attrs)):
        numbers[i] = number
    prepared = prepare_for(handle, values, inputs, kernel or "")
    if inputs:
        context = home_of((<NDArrayBase>inputs[0]).storage.context)
    else:
        context = services.context_of(values)
    targets = []
    results = []
    for i in range(prepared.nout):
        writes[i] = MX_WRITE if reqs is None else reqs[i]
        target = None if outputs is None else outputs[i]
        direct = target is not None and (
            writes[i] == MX_WRITE
            or (writes[i] == MX_ADD and prepared.flags & MX_TAKES_ADD and prepared.kernel != NULL)
        ) and not clashes(prepared, i, <NDArrayBase>target, inputs, None)
        if not direct:
            writes[i] = MX_WRITE
            result = make_array(
                <Shape>prepared.out_shapes[i], prepared.out_dtypes[i], context,
                services.array_class
            )
        else:
            result = target
        results.append(result)
        targets.append(result if target is None else target)
    run(prepared, inputs, results, numbers, context, writes, True)
    for i in range(prepared.nout):
        if results[i] is not targets[i] and (reqs is None or reqs[i] != MX_NULL):
            targets[i].wait_to_write()
            added = reqs is not None and reqs[i] == MX_ADD
            services.store_result(targets[i], results[i], added)
    return targets, prepared.call.kernel or "ref"
