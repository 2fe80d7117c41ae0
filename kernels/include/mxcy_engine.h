/* mxcy_engine.h: the dependency engine. Operations name the variables they read and write and run,
 * on worker threads, as soon as those before them that used the same variables are done.
 *
 * Functions that may wait have a limit in milliseconds, -1 for none, so that their callers can look
 * for signals now and then; they return 0, 1 when the time was up, or -1 with mx_last_error().
 */
#ifndef MXCY_ENGINE_H_
#define MXCY_ENGINE_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- variables ------------------------------------------------------------------------------ */
/* A tag of memory or of another resource. A variable that a failed operation was to write carries
 * its error until it is written again. */
typedef struct mx_var mx_var;
MX_API mx_var* mx_var_create(void); /* NULL with an error text */
/* The caller forgets it at once; it is freed when its last operation is done. NULL is allowed. */
MX_API void mx_var_destroy(mx_var* var);
/* 1: no operation uses it, is queued for it or has left an error on it (one atomic load). */
MX_API int32_t mx_var_idle(const mx_var* var);
/* 1: others may use it, but none is to write it, and it carries no error (one atomic load). */
MX_API int32_t mx_var_readable(const mx_var* var);
MX_API int32_t mx_var_failed(const mx_var* var);  /* 1: it carries an error */
MX_API int64_t mx_var_version(const mx_var* var); /* how often operations have written it */

/* --- operations ----------------------------------------------------------------------------- */
enum { MX_READS = 1, MX_WRITES = 2 }; /* both: read and then written */

enum {
  MX_OP_NORMAL = 0,
  MX_OP_COPY_FROM = 1,   /* from a GPU, on its copy queue */
  MX_OP_COPY_TO = 2,     /* to a GPU, on its copy queue */
  MX_OP_PRIORITIZED = 3, /* on the device's priority queue, larger priorities first */
  MX_OP_ASYNC = 4,       /* is done when mx_engine_complete says so; runs in the thread that pushes
                          * it when it need not wait */
  MX_OP_NOSKIP = 5       /* runs even if what it reads carries an error */
};

/* Copied by mx_engine_push, strings as well. */
typedef struct mx_operation {
  int (*run)(void* payload);      /* 0, or -1 with mx_fail; on a worker, without the Python lock */
  void (*skipped)(void* payload); /* instead of run, when an input carries an error; may be NULL */
  void* payload;
  void (*release)(void* payload); /* after either, before it counts as done; may be NULL */
  int64_t token;                  /* not 0: mx_engine_done returns it after it is done */
  const char* name;      /* of the operator, for error texts; NULL: the texts of run are complete */
  const char* place;     /* "train.py:12", where it was called; may be NULL */
  mx_var* const* vars;   /* a variable may occur more than once: its accesses are united */
  const int32_t* access; /* MX_READS, MX_WRITES or both for each */
  int32_t nvars;
  int32_t device_type, device_id; /* 2 is a GPU, everything else the CPU */
  int32_t property, priority;
} mx_operation;

/* 0: it will run, or has run here (NaiveEngine; operations that an operation pushes on variables
 * it holds). -1: it failed here, or could not be queued; the error is the caller's to raise. */
MX_API int mx_engine_push(const mx_operation* operation);

/* The running MX_OP_ASYNC operation; run hands it to whoever completes it, with an error text or
 * NULL. When run itself fails, the operation is over and must not be completed. */
typedef struct mx_ticket mx_ticket;
MX_API mx_ticket* mx_engine_ticket(void);
MX_API void mx_engine_complete(mx_ticket* ticket, const char* error);

/* Hold variables while the caller itself uses them: wait for the turn, then other operations wait
 * for mx_engine_leave. Limit 0 queues nothing: 1 unless all are free. -1: one that is read carries
 * an error; nothing is held then. */
MX_API int mx_engine_enter(mx_var* const* vars, const int32_t* access, int32_t n, int32_t limit);
/* The same arguments as for mx_engine_enter; error: the written ones carry it from now on, NULL:
 * what they carried is gone. */
MX_API void mx_engine_leave(mx_var* const* vars, const int32_t* access, int32_t n,
                            const char* error);

/* Tokens of operations that are done, at most `most`; returns how many. One load if there are none.
 */
MX_API int32_t mx_engine_done(int64_t* tokens, int32_t most);

/* --- waiting and errors --------------------------------------------------------------------- */
/* Until all that was pushed before is done: writers of the variable (MX_READS), or all who use it
 * (MX_WRITES). -1: it carries an error, or the calling operation would wait for itself. NULL is
 * idle. */
MX_API int mx_engine_wait(mx_var* var, int32_t access, int32_t limit);
/* The same without a look at errors: -1 only for an operation that would wait for itself. */
MX_API int mx_engine_settle(mx_var* var, int32_t access, int32_t limit);
/* Until everything is done. -1: the first error that no wait has told of; all others are forgotten,
 * but variables keep them. */
MX_API int mx_engine_wait_all(int32_t limit);

/* --- bulks ---------------------------------------------------------------------------------- */
/* Up to `size` normal operations that this thread pushes one after the other for one device are
 * queued as one; 0: each for itself. Returns the size before. */
MX_API int32_t mx_engine_set_bulk(int32_t size);
MX_API void mx_engine_flush(void); /* queue this thread's bulk; every wait does that as well */
/* 0: bulk sizes count as 0 until it is switched on again, as while each operation is timed. */
MX_API void mx_engine_allow_bulk(int32_t allow);

/* --- the engine itself ---------------------------------------------------------------------- */
enum { MX_NAIVE_ENGINE = 0, MX_THREADED_ENGINE = 1, MX_THREADED_PER_DEVICE = 2 };
typedef struct mx_engine_settings {
  int32_t type;
  int32_t workers;          /* of each CPU's queue; ThreadedEngine: of its only one */
  int32_t priority_workers; /* of the CPU's priority queue */
  int32_t gpu_workers;      /* of each GPU's queue, and as many of its priority queue */
  int32_t gpu_copy_workers; /* of each GPU's copy queue */
  int32_t info;             /* 1: tell of dispatches and waits on the standard error stream */
} mx_engine_settings;
/* Finishes everything first. No thread starts before the first operation needs it. */
MX_API int mx_engine_configure(const mx_engine_settings* settings);

typedef struct mx_engine_counts {
  mx_engine_settings settings;
  int32_t threads; /* workers alive */
  int64_t pushed, run, skipped, failed, pending;
  int64_t inlined;       /* of those run: in the thread that pushed them */
  int64_t bulks, bulked; /* bulks queued, and operations in them */
  int64_t errors;        /* that mx_engine_wait_all would tell of */
} mx_engine_counts;
MX_API void mx_engine_stats(mx_engine_counts* counts);
/* The queue number `index` of those in use: its name, its workers alive, the operations it has run;
 * 0 when there are no more. */
MX_API int32_t mx_engine_queue(int32_t index, char name[32], int32_t* threads, int64_t* run);

/* Before fork: finish what was pushed so far, wait until nobody holds variables, end all workers.
 * What is pushed from then on waits for mx_engine_start. Not for workers. */
MX_API int mx_engine_stop(int32_t limit);
MX_API void mx_engine_start(int32_t child); /* child: after fork, in the new process */
/* 1 on a worker thread. */
MX_API int32_t mx_engine_on_worker(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_ENGINE_H_ */
