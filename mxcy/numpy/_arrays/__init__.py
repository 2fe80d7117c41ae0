"""The array class of `mx.np`: its operators, its indexing, its protocols, shared memory."""
