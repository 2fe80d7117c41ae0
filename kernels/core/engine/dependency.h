// Dependency tracking: each variable has a queue of requests to read or write it.
//
// First come, first served: a reader joins running readers unless a request is already waiting, a
// writer waits until it is alone. A task submits all its requests at once, so every queue has the
// same order of tasks and a deadlock is impossible. There are no locks, threads or allocations
// here: callers hold a lock, and tests explore every order of events
// (tests/engine/explore_dependency.cc).
#pragma once
#include <cstdint>

namespace mx {

struct Task;

// The running and waiting requests of one variable.
struct Request;
struct Queue {
  Request* first = nullptr;  // of the waiting requests
  Request* last = nullptr;
  int32_t readers = 0;  // running
  bool writing = false;

  // Whether a request could join the running ones; it must not overtake waiting ones.
  bool admits(bool write) const { return !writing && (!write || readers == 0); }
  bool free_for(bool write) const { return !first && admits(write); }
};

// One task's request for one variable; all requests of a task are for different variables.
struct Request {
  Queue* queue;
  Task* task;
  Request* next;
  int32_t access;  // MX_READS, MX_WRITES or both
  bool waits;      // still queued

  bool reads() const { return access & 1; }
  bool writes() const { return access & 2; }
};

struct Task {
  Request* requests = nullptr;
  int32_t count = 0;
  int32_t missing = 0;  // requests still waiting
};

inline void grant(Queue& queue, bool write) {
  if (write)
    queue.writing = true;
  else
    ++queue.readers;
}

// Queue all requests of a task; true if it may run at once.
inline bool submit(Task& task) {
  task.missing = 0;
  for (int32_t i = 0; i < task.count; ++i) {
    Request& request = task.requests[i];
    Queue& queue = *request.queue;
    request.task = &task;
    request.next = nullptr;
    request.waits = !queue.free_for(request.writes());
    if (!request.waits) {
      grant(queue, request.writes());
      continue;
    }
    ++task.missing;
    (queue.first ? queue.last->next : queue.first) = &request;
    queue.last = &request;
  }
  return task.missing == 0;
}

// Admit waiting requests where possible; ready(task) is called for each task whose requests are all
// admitted, and must not call back into this header.
template <class Ready>
void admit(Queue& queue, Ready&& ready) {
  while (queue.first && queue.admits(queue.first->writes())) {
    Request* request = queue.first;
    queue.first = request->next;
    request->waits = false;
    grant(queue, request->writes());
    if (--request->task->missing == 0) ready(*request->task);
  }
}

// End one use of a variable.
template <class Ready>
void release(Queue& queue, bool write, Ready&& ready) {
  if (write)
    queue.writing = false;
  else
    --queue.readers;
  admit(queue, ready);
}

// End a task that has finished running.
template <class Ready>
void finish(Task& task, Ready&& ready) {
  for (int32_t i = 0; i < task.count; ++i)
    release(*task.requests[i].queue, task.requests[i].writes(), ready);
}

// Withdraw a task that is still waiting.
template <class Ready>
void withdraw(Task& task, Ready&& ready) {
  for (int32_t i = 0; i < task.count; ++i) {
    Request& request = task.requests[i];
    Queue& queue = *request.queue;
    if (!request.waits) {
      release(queue, request.writes(), ready);
      continue;
    }
    Request* before = nullptr;
    for (Request* one = queue.first; one != &request; one = one->next) before = one;
    (before ? before->next : queue.first) = request.next;
    if (queue.last == &request) queue.last = before;
    admit(queue, ready);
  }
}

}  // namespace mx
