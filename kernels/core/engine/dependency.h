// The order of operations: each variable has a queue of those who want to use it.
//
// First come, first served: a reader joins running readers unless somebody waits already, a writer
// waits until it is alone. A task submits all its requests at once, so every queue has the same
// order of tasks, and nobody waits in a circle. No locks, threads or memory of its own: callers
// hold a lock, and tests try every order of events (tests/engine/explore_dependency.cc).
#pragma once
#include <cstdint>

namespace mx {

struct Task;

// The users of one variable, now and later.
struct Request;
struct Queue {
  Request* first = nullptr;  // of those who wait
  Request* last = nullptr;
  int32_t readers = 0;  // running
  bool writing = false;

  // Whether a request could run beside those that run; it must not overtake those that wait.
  bool admits(bool write) const { return !writing && (!write || readers == 0); }
  bool free_for(bool write) const { return !first && admits(write); }
};

// What one task wants of one variable; requests of a task are for different variables.
struct Request {
  Queue* queue;
  Task* task;
  Request* next;
  int32_t access;  // MX_READS, MX_WRITES or both
  bool waits;      // in its queue

  bool reads() const { return access & 1; }
  bool writes() const { return access & 2; }
};

struct Task {
  Request* requests = nullptr;
  int32_t count = 0;
  int32_t missing = 0;  // requests that still wait
};

inline void grant(Queue& queue, bool write) {
  if (write)
    queue.writing = true;
  else
    ++queue.readers;
}

// Queue all requests of a task; true when it may run at once.
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

// Let in who may run now; ready(task) is told of each task that misses nothing more, and must not
// come back here.
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

// End a task that has run.
template <class Ready>
void finish(Task& task, Ready&& ready) {
  for (int32_t i = 0; i < task.count; ++i)
    release(*task.requests[i].queue, task.requests[i].writes(), ready);
}

// Take back a task that still misses something.
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
