"""Training on several devices."""

from mxcy.env.kinds import anything, count, flag, integer, links, number
from mxcy.env.variable import Variable

_ALONE = "there is no store over several processes yet"

ROWS = (
    Variable("MXNET_UPDATE_ON_KVSTORE", flag, True, "C", "mxcy.kvstore.choice",
             "Let the key-value store of a module or a trainer run the optimizer where it can: "
             "with several devices, and for weights of at most 2**24 elements in a 'local' one. "
             "What a program asks for wins.",
             test="env/test_training.py::test_update_on_kvstore"),
    Variable("MXNET_KVSTORE_REDUCTION_NTHREADS", integer(1), 4, "C", "mxcy.kvstore.local",
             "1: gradients of several devices are added up by one thread; otherwise, as there is "
             "only one team, all of it works on big ones. Read when a store is made.",
             test="env/test_training.py::test_kvstore_sums"),
    Variable("MXNET_KVSTORE_BIGARRAY_BOUND", count(1), 1000000, "C", "mxcy.kvstore.local",
             "Arrays with at least as many elements are big: several threads may add them up. Read "
             "when a store is made.", test="env/test_training.py::test_kvstore_sums"),
    Variable("MXNET_KVSTORE_USETREE", flag, False, "C", "mxcy.kvstore.local",
             "Add up and spread the values of a 'device' store along trees of fast links between "
             "its devices, another tree for each key. Read when a store is made.",
             test="env/test_training.py::test_trees"),
    Variable("MXNET_KVSTORE_LOGTREE", flag, False, "C", "mxcy.kvstore.tree_sum",
             "Print the weights of the links, and the trees.",
             test="env/test_training.py::test_trees"),
    Variable("MXNET_KVSTORE_TREE_ARRAY_BOUND", count(1), 10000000, "C", "mxcy.kvstore.tree_sum",
             "Arrays of more elements are cut into a slice for each tree, if they have two rows "
             "for each.", test="env/test_training.py::test_trees_of_slices"),
    Variable("MXNET_KVSTORE_TREE_BACKTRACK", flag, False, "C", "mxcy.kvstore.tree_sum",
             "Find the heaviest of all trees, rather than halve the devices by a heuristic.",
             test="env/test_training.py::test_best_trees"),
    Variable("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", number(0, 1, open_low=True), 0.7, "C",
             "mxcy.kvstore.tree_sum",
             "What a link's weight is multiplied by for each tree that uses it.",
             test="env/test_training.py::test_best_trees"),
    Variable("MXCY_DEVICE_LINKS", links, None, "C", "mxcy.kvstore.tree_sum",
             "How fast the links between devices are, for trees; without it, all go through the "
             "host.", test="env/test_training.py::test_best_trees"),
    Variable("MXNET_KVSTORE_SLICE_THRESHOLD", count(1), 40000, "F", "mxcy.kvstore",
             "The P3 store sends arrays in slices of at most so many elements.", inert=_ALONE),
    Variable("MXNET_KVSTORE_SERIAL_PUSH", flag, False, "F", "mxcy.kvstore",
             "Add up row-sparse gradients one after the other.",
             inert="there are no row-sparse gradients yet"),
    Variable("MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE", flag, False, "F", "mxcy.kvstore",
             "Print what a store over several processes does with row-sparse values.",
             inert=_ALONE),
    Variable("MXNET_UPDATE_AGGREGATION_SIZE", integer(1), 4, "C", "mxcy.kvstore",
             "Keys of one call of a NCCL store.",
             inert="there is no NCCL store; see MXNET_OPTIMIZER_AGGREGATION_SIZE"),
    Variable("DMLC_ROLE", anything, "", "F", "mxcy.kvstore",
             "What this process does in a training of several: worker, server or scheduler.",
             inert=_ALONE),
    Variable("DMLC_PS_ROOT_URI", anything, "", "F", "mxcy.kvstore",
             "The address of the scheduler.", inert=_ALONE),
    Variable("DMLC_PS_ROOT_PORT", integer(0, 65535), None, "F", "mxcy.kvstore",
             "The port of the scheduler.", inert=_ALONE),
    Variable("DMLC_NUM_WORKER", integer(0), None, "F", "mxcy.kvstore",
             "How many workers there are.", inert=_ALONE),
    Variable("DMLC_NUM_SERVER", integer(0), None, "F", "mxcy.kvstore",
             "How many servers there are.", inert=_ALONE),
    Variable("DMLC_WORKER_ID", integer(0), None, "F", "mxcy.kvstore",
             "The number of this worker.", inert=_ALONE),
    Variable("DMLC_PS_VAN_TYPE", anything, "", "F", "mxcy.kvstore",
             "How processes send: p3 for slices in order of priority.", inert=_ALONE),
    Variable("DMLC_INTERFACE", anything, "", "F", "mxcy.kvstore",
             "The network interface to use.", inert=_ALONE),
    Variable("PS_VERBOSE", integer(0), 0, "F", "mxcy.kvstore",
             "Print connections (1) and messages (2) between processes.", inert=_ALONE),
    Variable("PS_HEARTBEAT_INTERVAL", integer(0), 0, "F", "mxcy.kvstore",
             "Seconds between signs of life of a process.", inert=_ALONE),
    Variable("PS_HEARTBEAT_TIMEOUT", integer(0), 0, "F", "mxcy.kvstore",
             "Seconds without a sign of life after which a process is dead.", inert=_ALONE),
)
