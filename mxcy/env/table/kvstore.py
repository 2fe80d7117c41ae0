"""Training on several devices."""

from mxcy.env.kinds import anything, count, flag, integer, links, number, one_of, path
from mxcy.env.variable import Variable

_BY_MPI = "processes find and reach each other by MPI"

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
             "Arrays with at least as many elements are big: several threads may add them up, and "
             "several servers have parts of them. Read when a store is made.",
             test="env/test_training.py::test_kvstore_sums"),
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
    Variable("MXNET_KVSTORE_SLICE_THRESHOLD", count(1), 40000, "C", "mxcy.kvstore.choice",
             "With DMLC_PS_VAN_TYPE=p3 arrays are sent in slices of at most so many elements. Read "
             "when a store is made.", test="dist/test_servers.py::test_slices"),
    Variable("MXNET_KVSTORE_SERIAL_PUSH", flag, False, "F", "mxcy.kvstore",
             "Add up row-sparse gradients one after the other.",
             inert="the rows of several devices are added up in their order anyway"),
    Variable("MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE", flag, False, "F", "mxcy.kvstore",
             "Print what a store over several processes does with row-sparse values.",
             inert="rows have owners among the workers, who do the same for each of them"),
    Variable("MXNET_UPDATE_AGGREGATION_SIZE", integer(1), 4, "C", "mxcy.kvstore",
             "Keys of one call of a NCCL store.",
             inert="there is no NCCL store; see MXNET_OPTIMIZER_AGGREGATION_SIZE"),
    Variable("DMLC_ROLE", one_of("worker", "server", "scheduler"), None, "C", "mxcy.dist.roles",
             "What this process does in a job of several: a server waits for the end of the job "
             "when it imports mxcy, a scheduler ends at once.",
             test="dist/test_roles.py::test_roles"),
    Variable("DMLC_NUM_WORKER", integer(1, 1000000), None, "C", "mxcy.dist.roles",
             "How many workers the job has; a store refuses to start with others.",
             test="dist/test_roles.py::test_nonsense"),
    Variable("DMLC_NUM_SERVER", integer(0, 1000000), None, "C", "mxcy.dist.roles",
             "How many servers the job has.", test="dist/test_roles.py::test_nonsense"),
    Variable("DMLC_PS_ROOT_PORT", integer(1, 65535), None, "C", "mxcy.dist.roles",
             "A port for processes to find each other, which MPI's do without.",
             test="dist/test_roles.py::test_nonsense"),
    Variable("DMLC_WORKER_ID", integer(0), None, "C", "mxcy.dist.roles",
             "The number of this worker: the launcher sets it for programs to read.",
             test="dist/test_launch.py::test_environment"),
    Variable("DMLC_NUM_ATTEMPT", integer(0), 0, "C", "mxcy.kvstore.kvstore",
             "How often the launcher has started the job again: `KVStore.is_recovery` tells.",
             test="dist/test_checkpoints.py::test_one_process"),
    Variable("DMLC_PS_VAN_TYPE", one_of("zmq", "ibverbs", "1", "p3"), None, "C",
             "mxcy.dist.roles",
             "How processes send, which MPI chooses by itself. 'p3': 'dist_sync' sends slices, "
             "those of more urgent keys first.", test="dist/test_servers.py::test_slices"),
    Variable("PMI_RANK", integer(0), None, "C", "mxcy.dist.roles",
             "The number that MPICH's process manager has given to this process; that it is set "
             "tells that there is one.", test="dist/test_roles.py::test_nonsense"),
    Variable("PMI_SIZE", integer(1), None, "C", "mxcy.dist.roles",
             "How many processes MPICH's process manager has started.",
             test="dist/test_roles.py::test_nonsense"),
    Variable("OMPI_COMM_WORLD_RANK", integer(0), None, "C", "mxcy.dist.roles",
             "As PMI_RANK, by Open MPI.", test="dist/test_roles.py::test_nonsense"),
    Variable("PMIX_RANK", integer(0), None, "C", "mxcy.dist.roles",
             "As PMI_RANK, by PMIx.", test="dist/test_roles.py::test_nonsense"),
    Variable("MXCY_RANK_PID", integer(1), None, "C", "mxcy.dist.start",
             "The process that the launcher has started as a worker: when it ends without having "
             "made a store, it takes part in the job's start, so that others do not wait for ever.",
             test="dist/test_shutdown.py::test_a_worker_without_a_store"),
    Variable("MXCY_JOB_FOLDER", path, None, "C", "mxcy.dist.job",
             "Where processes of a job on one machine leave a file while they are members of it: "
             "the launcher sets it, and tells by it who ended without a goodbye.",
             test="dist/test_shutdown.py::test_a_bad_end"),
    Variable("MXCY_DIST_BUCKET_BYTES", count(1), 4194304, "C", "mxcy.dist.job",
             "Stores over several processes add up keys together, in buckets that are closed at so "
             "many bytes; the first one at an eighth of that. Read when a store is made.",
             test="dist/test_exchange.py::test_bucket_bytes"),
    Variable("MXCY_DIST_OVERLAP", flag, True, "C", "mxcy.graph.planning.segments",
             "Stores over several processes send gradients while the backward pass goes on, which "
             "for that is handed to the engine in pieces; otherwise, once all are computed.",
             test="dist/test_overlap.py::test_weights_without_overlap"),
    Variable("MXCY_DIST_SHARED_UPDATES", flag, True, "C", "mxcy.kvstore.shared_updates",
             "With an optimizer that works element by element, each worker of `dist_sync` updates "
             "a part of the weights, keeps the states of it, and sends it to the others; "
             "otherwise each updates all of them. The same for all workers.",
             test="dist/test_shared_updates.py::test_without_sharing"),
    Variable("MXCY_DIST_SHARED_MEMORY", flag, True, "C", "mxcy.dist.job",
             "Workers that are all on one machine sum arrays of at least 64 KB in memory that they "
             "share, up to 16 MB for each bucket; otherwise MPI sums them.",
             test="dist/test_shared_memory.py::test_processes"),
    Variable("MXCY_DIST_TIMEOUT", number(0), 300, "C", "mxcy.dist.job",
             "After so many seconds of waiting for other processes, a store asks who is missing, "
             "and raises an error that names it; 0: never.",
             test="dist/test_shutdown.py::test_a_stopped_worker"),
    Variable("MXCY_DIST_CHECK_EVERY", integer(0), 1000, "C", "mxcy.kvstore.dist_store",
             "Before every so many sums of a key, workers compare the values that they have, and "
             "raise an error where these differ; 0: never. The same for all workers.",
             test="dist/test_divergence.py::test_how_often"),
    Variable("MXCY_DIST_LOG_SECONDS", number(0), 0, "C", "mxcy.dist.job",
             "Rank 0 writes a line to Python's log, at level INFO, each time so many seconds have "
             "passed: the samples per second of all ranks, and the share of communication; 0: "
             "never.", test="dist/test_insight.py::test_lines_of_the_log"),
    Variable("MXCY_DIST_MIN_WORKERS", integer(1), None, "C", "mxcy.dist.job",
             "How many workers are enough to go on when others die: the launcher's --min-workers "
             "sets it.", test="dist/test_shrink.py::test_a_killed_worker"),
    Variable("MXCY_DIST_JOINS", integer(0), 0, "C", "mxcy.dist.job",
             "Set for processes that a running job starts, in which they join it: how often there "
             "have been such ones.", test="dist/test_growth.py::test_somebody_asks"),
    Variable("MXCY_DIST_REPLACEMENTS", integer(0), 0, "C", "mxcy.dist.job",
             "How many workers that have died a job replaces: the launcher sets it for "
             "--max-restarts beside --min-workers.",
             test="dist/test_growth.py::test_a_killed_worker_is_replaced"),
    Variable("MXCY_ELASTIC_SCALE", flag, False, "C", "mxcy.dist.members.membership",
             "Sums that fewer workers make than there were at first are multiplied by what makes "
             "up for it.", test="dist/test_shrink.py::test_scale"),
    Variable("DMLC_PS_ROOT_URI", anything, "", "F", "mxcy.dist",
             "The address of the scheduler.", inert=_BY_MPI, silent=True),
    Variable("DMLC_INTERFACE", anything, "", "F", "mxcy.dist",
             "The network interface to use.",
             inert="MPI has variables of its own for it, such as UCX_NET_DEVICES and FI_TCP_IFACE"),
    Variable("PS_VERBOSE", integer(0), 0, "C", "mxcy.dist.job",
             "1: each process tells on the standard error which processes it is connected to; 2: "
             "also of each message and collective call.",
             test="dist/test_message_log.py::test_a_program_that_tells_of_its_messages"),
    Variable("PS_HEARTBEAT_INTERVAL", number(0), 0, "C", "mxcy.dist.job",
             "Seconds between signs of life that each worker gives to the next one, once "
             "PS_HEARTBEAT_TIMEOUT is set; 0: a quarter of that.",
             test="dist/test_faults.py::test_a_ring_of_signs_of_life"),
    Variable("PS_HEARTBEAT_TIMEOUT", number(0), 0, "C", "mxcy.dist.job",
             "Seconds without a sign of life after which a worker counts as dead, and all others "
             "get an error that names it; 0: never. That a process on the same machine has ended "
             "is noticed at once, and MXCY_DIST_TIMEOUT finds out who is waited for.",
             test="dist/test_faults.py::test_a_ring_of_signs_of_life"),
)
