"""Training on several devices."""

from mxcy.env.kinds import anything, count, flag, integer, links, number, one_of, path
from mxcy.env.variable import Variable

_BY_MPI = "processes communicate by MPI"

ROWS = (
    Variable("MXNET_UPDATE_ON_KVSTORE", flag, True, "C", "mxcy.kvstore.choice",
             "Let the key-value store of a module or trainer run the optimizer if possible: "
             "with several devices, and for weights of at most 2**24 elements in a 'local' one. "
             "A program's explicit choice takes precedence.",
             test="env/test_training.py::test_update_on_kvstore"),
    Variable("MXNET_KVSTORE_REDUCTION_NTHREADS", integer(1), 4, "C", "mxcy.kvstore.local",
             "1: one thread adds gradients of several devices; otherwise, as there is "
             "only one team, all threads add large ones. Read when a store is made.",
             test="env/test_training.py::test_kvstore_sums"),
    Variable("MXNET_KVSTORE_BIGARRAY_BOUND", count(1), 1000000, "C", "mxcy.kvstore.local",
             "Arrays with at least this many elements are large: several threads may add them, and "
             "several servers store parts of them. Read when a store is made.",
             test="env/test_training.py::test_kvstore_sums"),
    Variable("MXNET_KVSTORE_USETREE", flag, False, "C", "mxcy.kvstore.local",
             "Reduce and broadcast the values of a 'device' store along trees of fast links "
             "between "
             "its devices, with a different tree for each key. Read when a store is made.",
             test="env/test_training.py::test_trees"),
    Variable("MXNET_KVSTORE_LOGTREE", flag, False, "C", "mxcy.kvstore.tree_sum",
             "Print the links' weights and the trees.",
             test="env/test_training.py::test_trees"),
    Variable("MXNET_KVSTORE_TREE_ARRAY_BOUND", count(1), 10000000, "C", "mxcy.kvstore.tree_sum",
             "Arrays with more elements are split into one slice per tree, if they have two rows "
             "for each.", test="env/test_training.py::test_trees_of_slices"),
    Variable("MXNET_KVSTORE_TREE_BACKTRACK", flag, False, "C", "mxcy.kvstore.tree_sum",
             "Search all trees for the heaviest, rather than bisect the devices heuristically.",
             test="env/test_training.py::test_best_trees"),
    Variable("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", number(0, 1, open_low=True), 0.7, "C",
             "mxcy.kvstore.tree_sum",
             "Factor of a link's weight for each tree that uses it.",
             test="env/test_training.py::test_best_trees"),
    Variable("MXCY_DEVICE_LINKS", links, None, "C", "mxcy.kvstore.tree_sum",
             "Speeds of the links between devices, for trees; without it, all go through the "
             "host.", test="env/test_training.py::test_best_trees"),
    Variable("MXNET_KVSTORE_SLICE_THRESHOLD", count(1), 40000, "C", "mxcy.kvstore.choice",
             "With DMLC_PS_VAN_TYPE=p3 arrays are sent in slices of at most this many elements. "
             "Read "
             "when a store is made.", test="dist/test_servers.py::test_slices"),
    Variable("MXNET_KVSTORE_SERIAL_PUSH", flag, False, "F", "mxcy.kvstore",
             "Add row-sparse gradients sequentially.",
             inert="the rows of several devices are always added in order"),
    Variable("MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE", flag, False, "F", "mxcy.kvstore",
             "Log operations of distributed stores on row-sparse values.",
             inert="rows have owners among the workers, which treat all alike"),
    Variable("MXNET_UPDATE_AGGREGATION_SIZE", integer(1), 4, "C", "mxcy.kvstore",
             "Number of keys per call of an NCCL store.",
             inert="mxcy has no NCCL store; see MXNET_OPTIMIZER_AGGREGATION_SIZE"),
    Variable("DMLC_ROLE", one_of("worker", "server", "scheduler"), None, "C", "mxcy.dist.roles",
             "Role of this process in a distributed job: a server waits for the end of the job "
             "when it imports mxcy; a scheduler exits at once.",
             test="dist/test_roles.py::test_roles"),
    Variable("DMLC_NUM_WORKER", integer(1, 1000000), None, "C", "mxcy.dist.roles",
             "Number of workers of the job; a store refuses to start with any other number.",
             test="dist/test_roles.py::test_nonsense"),
    Variable("DMLC_NUM_SERVER", integer(0, 1000000), None, "C", "mxcy.dist.roles",
             "Number of servers of the job.", test="dist/test_roles.py::test_nonsense"),
    Variable("DMLC_PS_ROOT_PORT", integer(1, 65535), None, "C", "mxcy.dist.roles",
             "A port for rendezvous, not needed with MPI.",
             test="dist/test_roles.py::test_nonsense"),
    Variable("DMLC_WORKER_ID", integer(0), None, "C", "mxcy.dist.roles",
             "Rank of this worker, set by the launcher for programs.",
             test="dist/test_launch.py::test_environment"),
    Variable("DMLC_NUM_ATTEMPT", integer(0), 0, "C", "mxcy.kvstore.kvstore",
             "Number of restarts of the job by the launcher: `KVStore.is_recovery` tells.",
             test="dist/test_checkpoints.py::test_one_process"),
    Variable("DMLC_PS_VAN_TYPE", one_of("zmq", "ibverbs", "1", "p3"), None, "C",
             "mxcy.dist.roles",
             "Transport, which MPI selects itself. 'p3': 'dist_sync' sends slices, "
             "in order of priority.", test="dist/test_servers.py::test_slices"),
    Variable("PMI_RANK", integer(0), None, "C", "mxcy.dist.roles",
             "Rank assigned to this process by MPICH's process manager; its presence "
             "indicates an MPI job.", test="dist/test_roles.py::test_nonsense"),
    Variable("PMI_SIZE", integer(1), None, "C", "mxcy.dist.roles",
             "Number of processes started by MPICH's process manager.",
             test="dist/test_roles.py::test_nonsense"),
    Variable("OMPI_COMM_WORLD_RANK", integer(0), None, "C", "mxcy.dist.roles",
             "Like PMI_RANK, for Open MPI.", test="dist/test_roles.py::test_nonsense"),
    Variable("PMIX_RANK", integer(0), None, "C", "mxcy.dist.roles",
             "Like PMI_RANK, for PMIx.", test="dist/test_roles.py::test_nonsense"),
    Variable("MXCY_RANK_PID", integer(1), None, "C", "mxcy.dist.start",
             "Process started by the launcher as a worker: if it ends without having "
             "created a store, it still takes part in the job's start, so that others do not hang.",
             test="dist/test_shutdown.py::test_a_worker_without_a_store"),
    Variable("MXCY_JOB_FOLDER", path, None, "C", "mxcy.dist.job",
             "Folder where a job's processes on one machine keep a file while they are members: "
             "set by the launcher, which detects by it processes that ended without notice.",
             test="dist/test_shutdown.py::test_exit_with_an_error_code"),
    Variable("MXCY_DIST_BUCKET_BYTES", count(1), 4194304, "C", "mxcy.dist.job",
             "Distributed stores all-reduce keys together, in buckets of this "
             "many bytes; the first one has an eighth of that. Read when a store is created.",
             test="dist/test_exchange.py::test_bucket_bytes"),
    Variable("MXCY_DIST_OVERLAP", flag, True, "C", "mxcy.graph.planning.segments",
             "Distributed stores send gradients during the backward pass, which "
             "is then split into several engine operations; otherwise, once all are computed.",
             test="dist/test_overlap.py::test_weights_without_overlap"),
    Variable("MXCY_DIST_SHARED_UPDATES", flag, True, "C", "mxcy.kvstore.shared_updates",
             "With an elementwise optimizer, each worker of `dist_sync` updates "
             "a part of the weights, keeps its optimizer states, and sends it to the others; "
             "otherwise each updates all weights. Must be the same for all workers.",
             test="dist/test_shared_updates.py::test_without_sharing"),
    Variable("MXCY_DIST_SHARED_MEMORY", flag, True, "C", "mxcy.dist.job",
             "Workers that are all on one machine sum arrays of at least 64 KB in memory that they "
             "share, 8 MB for each bucket beside its values; otherwise MPI sums them. Rows of "
             "row_sparse values likewise pass between processes of one machine in up to 256 MB "
             "of each.",
             test="dist/test_shared_memory.py::test_processes"),
    Variable("MXCY_DIST_TIMEOUT", number(0), 300, "C", "mxcy.dist.job",
             "After waiting this many seconds for other processes, a store determines which is "
             "missing "
             "and raises an error naming it; 0: never.",
             test="dist/test_shutdown.py::test_a_stopped_worker"),
    Variable("MXCY_DIST_CHECK_EVERY", integer(0), 1000, "C", "mxcy.kvstore.dist_store",
             "Every N reductions of a key, workers compare their values before, and "
             "raise an error if they differ; 0: never. Must be the same for all workers.",
             test="dist/test_divergence.py::test_how_often"),
    Variable("MXCY_DIST_LOG_SECONDS", number(0), 0, "C", "mxcy.dist.job",
             "Interval in seconds at which rank 0 logs a line at level INFO: "
             "samples per second of all ranks, and the share of communication; 0: "
             "never.", test="dist/test_insight.py::test_lines_of_the_log"),
    Variable("MXCY_DIST_MIN_WORKERS", integer(1), None, "C", "mxcy.dist.job",
             "Minimum number of workers to continue with when others die: the launcher's "
             "--min-workers "
             "sets it.", test="dist/test_shrink.py::test_a_killed_worker"),
    Variable("MXCY_DIST_JOINS", integer(0), 0, "C", "mxcy.dist.job",
             "Set for processes that join a running job: the number of preceding "
             "such additions.", test="dist/test_growth.py::test_somebody_asks"),
    Variable("MXCY_DIST_REPLACEMENTS", integer(0), 0, "C", "mxcy.dist.job",
             "Maximum number of failed workers that a job replaces, set by the launcher for "
             "--max-restarts together with --min-workers.",
             test="dist/test_growth.py::test_a_killed_worker_is_replaced"),
    Variable("MXCY_ELASTIC_SCALE", flag, False, "C", "mxcy.dist.members.membership",
             "Sums over fewer workers than at the start are scaled to compensate "
             "for the missing ones.", test="dist/test_shrink.py::test_scale"),
    Variable("DMLC_PS_ROOT_URI", anything, "", "F", "mxcy.dist",
             "The address of the scheduler.", inert=_BY_MPI, silent=True),
    Variable("DMLC_INTERFACE", anything, "", "F", "mxcy.dist",
             "The network interface to use.",
             inert="MPI has its own variables for it, such as UCX_NET_DEVICES and FI_TCP_IFACE"),
    Variable("PS_VERBOSE", integer(0), 0, "C", "mxcy.dist.job",
             "1: each process prints to standard error the processes it is connected to; 2: "
             "also each message and collective call.",
             test="dist/test_message_log.py::test_messages_of_a_program_are_logged"),
    Variable("PS_HEARTBEAT_INTERVAL", number(0), 0, "C", "mxcy.dist.job",
             "Seconds between heartbeats from each worker to the next one, if "
             "PS_HEARTBEAT_TIMEOUT is set; 0: a quarter of that.",
             test="dist/test_faults.py::test_a_ring_of_signs_of_life"),
    Variable("PS_HEARTBEAT_TIMEOUT", number(0), 0, "C", "mxcy.dist.job",
             "Seconds without a heartbeat after which a worker is considered dead, and all others "
             "get an error naming it; 0: never. The end of a process on the same machine "
             "is noticed at once, and MXCY_DIST_TIMEOUT finds the process waited for.",
             test="dist/test_faults.py::test_a_ring_of_signs_of_life"),
)
