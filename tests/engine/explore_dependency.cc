// Tries every order of events for small sets of operations on kernels/core/engine/dependency.h.
//
// Operations belong to two threads, each of which submits its own in order; an operation whose turn
// has come may finish at any time, and one that waits may be taken back. After each event, exactly
// those operations must have their turn that no earlier one stands in the way of: so no writer runs
// beside anybody, everybody comes in the order of submission and as early as possible, and in the
// end all have run, once.
//
//   explore_dependency OPERATIONS VARIABLES [FAULT]
//
// prints how many orders it has tried and returns 0, or shows an order that goes wrong and
// returns 1. With FAULT a protocol that is wrong in this way is tried instead, to see that it is
// found out.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/engine/dependency.h"

using mx::Queue;
using mx::Request;
using mx::Task;

namespace {

enum Fault {
  kNone,
  kOvertake,  // readers join others though a writer waits
  kCrowd,     // writers do not wait for readers
  kForget,    // only the first of those who could run is told
  kPiecewise  // a task submits its requests one by one, others come in between
};
const char* const kFaults[] = {"", "overtake", "crowd", "forget", "piecewise"};

int operations, variables;
Fault fault = kNone;
long orders = 0;

struct Op {
  Task task;
  Request requests[4];
  int submitted = 0;  // requests
  bool turn = false, done = false;
  int turns = 0;
};

struct World {
  std::vector<Queue> queues;
  std::vector<Op> ops;
  std::vector<int> order;  // of submission
};

using Access = std::vector<std::vector<int>>;  // of each operation to each variable, 0 for none

void build(World& world, const Access& access) {
  world.queues.assign(variables, Queue());
  world.ops.assign(operations, Op());
  world.order.clear();
  for (int i = 0; i < operations; ++i) {
    Op& op = world.ops[i];
    op.task.requests = op.requests;
    for (int v = 0; v < variables; ++v)
      if (access[i][v])
        op.requests[op.task.count++] =
            Request{&world.queues[v], &op.task, nullptr, access[i][v], false};
  }
}

Op& op_of(World& world, const Task& task) {
  for (Op& op : world.ops)
    if (&op.task == &task) return op;
  abort();
}

void give_turn(World& world, Task& task) {
  Op& op = op_of(world, task);
  op.turn = true;
  ++op.turns;
}

bool faulty_free(const Queue& queue, bool write) {
  if (fault == kOvertake && !write) return queue.admits(write);
  if (fault == kCrowd && write) return !queue.first && !queue.writing;
  return queue.free_for(write);
}

// mx::submit, request by request, for faults; true after the last one when none is missing.
bool faulty_submit(Op& op) {
  if (op.submitted == 0) op.task.missing = 1;  // nobody may start it before it is complete
  Request& request = op.requests[op.submitted];
  Queue& queue = *request.queue;
  if (faulty_free(queue, request.writes())) {
    mx::grant(queue, request.writes());
  } else {
    ++op.task.missing;
    (queue.first ? queue.last->next : queue.first) = &request;
    queue.last = &request;
  }
  return ++op.submitted == op.task.count && --op.task.missing == 0;
}

void submit(World& world, int i) {
  Op& op = world.ops[i];
  bool now;
  if (fault == kNone) {
    now = mx::submit(op.task);
    op.submitted = op.task.count;
  } else {
    do now = faulty_submit(op);
    while (fault != kPiecewise && op.submitted < op.task.count);
  }
  if (op.submitted == op.task.count) world.order.push_back(i);
  if (now) give_turn(world, op.task);
}

void finish(World& world, int i) {
  Op& op = world.ops[i];
  op.turn = false;
  op.done = true;
  const auto ready = [&](Task& task) { give_turn(world, task); };
  if (fault != kForget) return mx::finish(op.task, ready);
  for (int k = 0; k < op.task.count; ++k) {
    Queue& queue = *op.requests[k].queue;
    if (op.requests[k].writes())
      queue.writing = false;
    else
      --queue.readers;
    if (!queue.first || !queue.admits(queue.first->writes())) continue;
    Request* request = queue.first;
    queue.first = request->next;
    mx::grant(queue, request->writes());
    if (--request->task->missing == 0) ready(*request->task);
  }
}

void take_back(World& world, int i) {
  world.ops[i].done = true;
  mx::withdraw(world.ops[i].task, [&](Task& task) { give_turn(world, task); });
}

// Events: thread 0 or 1 goes on submitting, operation i finishes (2 + i) or is taken back (100 +
// i).
void apply(World& world, int event) {
  if (event >= 100) return take_back(world, event - 100);
  if (event >= 2) return finish(world, event - 2);
  for (int i = event; i < operations; i += 2)
    if (world.ops[i].submitted < world.ops[i].task.count) return submit(world, i);
}

std::vector<int> possible(const World& world) {
  std::vector<int> events;
  for (int thread = 0; thread < 2; ++thread)
    for (int i = thread; i < operations; i += 2)
      if (world.ops[i].submitted < world.ops[i].task.count) {
        events.push_back(thread);
        break;
      }
  for (int i = 0; i < operations; ++i) {
    const Op& op = world.ops[i];
    if (op.turn)
      events.push_back(2 + i);
    else if (!op.done && op.submitted == op.task.count && fault == kNone)
      events.push_back(100 + i);
  }
  return events;
}

bool conflict(const std::vector<int>& a, const std::vector<int>& b) {
  for (int v = 0; v < variables; ++v)
    if (a[v] && b[v] && ((a[v] | b[v]) & 2)) return true;
  return false;
}

const char* wrong(const World& world, const Access& access) {
  for (size_t k = 0; k < world.order.size(); ++k) {
    const int i = world.order[k];
    if (world.ops[i].turns > 1) return "its turn came twice";
    if (world.ops[i].done || fault == kPiecewise) continue;
    bool free = true;
    for (size_t j = 0; j < k; ++j)
      if (!world.ops[world.order[j]].done && conflict(access[world.order[j]], access[i]))
        free = false;
    if (world.ops[i].turn && !free) return "it does not wait for an earlier one";
    if (!world.ops[i].turn && free) return "it waits for nobody";
  }
  return nullptr;
}

int show(const char* what, const Access& access, const std::vector<int>& path) {
  printf("%s:", what);
  for (const std::vector<int>& one : access) {
    printf(" [");
    for (int v : one) printf("%s", v == 0 ? "-" : v == 1 ? "r" : v == 2 ? "w" : "b");
    printf("]");
  }
  printf(" after");
  for (int event : path) event < 2 ? printf(" submit:%d", event) : printf(" finish:%d", event - 2);
  printf("\n");
  return 1;
}

int explore(const Access& access, std::vector<int>& path) {
  World world;
  build(world, access);
  for (int event : path) apply(world, event);
  if (const char* what = wrong(world, access)) return show(what, access, path);
  const std::vector<int> events = possible(world);
  if (events.empty()) {
    ++orders;
    for (const Op& op : world.ops)
      if (!op.done) return show("some never have their turn", access, path);
  }
  for (int event : events) {
    path.push_back(event);
    if (explore(access, path)) return 1;
    path.pop_back();
  }
  return 0;
}

// All sets of operations whose first `i` are given.
int explore_sets(Access& access, int i) {
  std::vector<int> path;
  if (i == operations) return explore(access, path);
  const int kinds = variables > 1 ? 3 : 4;  // reading and writing is queued as writing
  int sets = 1;
  for (int v = 0; v < variables; ++v) sets *= kinds;
  for (int set = 1; set < sets; ++set) {
    for (int v = 0, rest = set; v < variables; ++v, rest /= kinds) access[i][v] = rest % kinds;
    if (explore_sets(access, i + 1)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  operations = atoi(argv[1]);
  variables = atoi(argv[2]);
  if (argc > 3) {
    int found = 0;
    for (int i = kNone; i <= kPiecewise; ++i)
      if (!strcmp(argv[3], kFaults[i])) found = i;
    if (!found || operations < 1 || variables < 1 || variables > 4) return 2;
    fault = (Fault)found;
  }
  Access access(operations, std::vector<int>(variables));
  if (explore_sets(access, 0)) return 1;
  printf("%ld orders\n", orders);
  return 0;
}
