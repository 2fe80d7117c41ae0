// Everything that the engine offers, from several threads at once, on plain memory: what the engine
// does not order is a data race, which the thread sanitizer reports, or a wrong result.
//
// Built from kernels/core alone, without OpenMP, which the sanitizer does not know.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "mxcy_engine.h"

namespace {

constexpr int kVars = 12;
constexpr int kThreads = 4;
int rounds = 400;

struct Cell {
  mx_var* var;
  long value;  // unsynchronised on purpose
};
Cell cells[kVars];

void require(bool condition, const char* what) {
  if (condition) return;
  printf("failed: %s (%s)\n", what, mx_last_error());
  exit(1);
}

// One operation: adds to the cells it writes, reads those it reads.
struct Work {
  std::vector<int> reads, writes;
  bool fails = false;
  long seen = 0;
};

int run(void* payload) {
  Work* work = (Work*)payload;
  for (int i : work->reads) work->seen += cells[i].value;
  for (int i : work->writes) ++cells[i].value;
  return work->fails ? mx_fail("planned") : 0;
}

void drop(void* payload) { delete (Work*)payload; }

int run_asynchronous(void* payload) {
  mx_ticket* ticket = mx_engine_ticket();
  std::thread([payload, ticket] {
    run(payload);
    mx_engine_complete(ticket, nullptr);
  }).detach();
  return 0;
}

void push(Work* work, int property, int priority, int device_type, int64_t token) {
  std::vector<mx_var*> vars;
  std::vector<int32_t> access;
  for (int i : work->reads) {
    vars.push_back(cells[i].var);
    access.push_back(MX_READS);
  }
  for (int i : work->writes) {
    vars.push_back(cells[i].var);
    access.push_back(MX_WRITES);
  }
  mx_operation operation{};
  operation.run = property == MX_OP_ASYNC ? run_asynchronous : run;
  operation.payload = work;
  operation.release = drop;
  operation.token = token;
  operation.name = "work";
  operation.vars = vars.data();
  operation.access = access.data();
  operation.nvars = (int32_t)vars.size();
  operation.device_type = device_type;
  operation.property = property;
  operation.priority = priority;
  require(mx_engine_push(&operation) == 0, "push");
}

// Adds to cells through every way there is; returns how often to each.
void work_on(int seed, std::vector<long>& added) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return (int)(random() % n); };
  for (int round = 0; round < rounds; ++round) {
    const int i = below(kVars), j = below(kVars);
    mx_var* var = cells[i].var;
    const int32_t writes = MX_READS | MX_WRITES;
    switch (below(12)) {
      case 0:
        mx_engine_set_bulk(below(6));
        break;
      case 1:
        if (mx_engine_enter(&var, &writes, 1, below(3) - 1) != 0) break;  // the time is up
        ++cells[i].value;
        ++added[i];
        mx_engine_leave(&var, &writes, 1, nullptr);
        break;
      case 2:
        mx_engine_wait(var, below(2) ? MX_READS : MX_WRITES, below(2) ? -1 : 0);
        break;
      case 3:
        mx_engine_settle(var, MX_READS, 1);
        break;
      case 4: {
        int64_t tokens[4];
        mx_engine_done(tokens, 4);
        break;
      }
      case 5: {  // a variable that is forgotten while it is in use
        mx_var* own = mx_var_create();
        mx_var* both[] = {own, var};
        const int32_t access[] = {MX_WRITES, MX_READS};
        mx_operation operation{};
        operation.run = [](void*) { return 0; };
        operation.vars = both;
        operation.access = access;
        operation.nvars = 2;
        require(mx_engine_push(&operation) == 0, "push");
        mx_var_destroy(own);
        break;
      }
      default: {
        Work* work = new Work;
        work->writes = {i};
        if (j != i) work->reads = {j};
        static const int kProperties[] = {MX_OP_NORMAL,      MX_OP_NORMAL, MX_OP_NORMAL,
                                          MX_OP_PRIORITIZED, MX_OP_NOSKIP, MX_OP_ASYNC,
                                          MX_OP_COPY_TO};
        ++added[i];
        push(work, kProperties[below(7)], below(3), 1 + below(2), 1 + round);
      }
    }
  }
  mx_engine_set_bulk(0);
}

void run_threads(void (*more)()) {
  for (Cell& cell : cells) cell.value = 0;
  std::vector<std::vector<long>> added(kThreads, std::vector<long>(kVars));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([t, &added] { work_on(t, added[t]); });
  if (more) more();
  for (std::thread& thread : threads) thread.join();
  require(mx_engine_wait_all(-1) == 0, "wait_all");
  for (int i = 0; i < kVars; ++i) {
    long expected = 0;
    for (const std::vector<long>& one : added) expected += one[i];
    require(cells[i].value == expected, "the number of writes");
    require(mx_var_idle(cells[i].var), "idle in the end");
    require(mx_var_readable(cells[i].var), "readable in the end");
  }
}

// A program of one thread, and what it gives when it is run line by line.
constexpr int kMany = 50;
uint64_t results[kMany];

struct Line {
  uint64_t* values;
  int number, reads, writes, used[6];  // first those read, then those written
  bool sleeps;
};

int run_line(void* payload) {
  const Line* line = (const Line*)payload;
  uint64_t seen = line->number;
  for (int k = 0; k < line->reads + line->writes; ++k)
    seen = (seen ^ line->values[line->used[k]]) * 0x9E3779B97F4A7C15u;
  if (line->sleeps) usleep(50);
  for (int k = 0; k < line->writes; ++k) line->values[line->used[line->reads + k]] = seen + k;
  return 0;
}

void run_program(int lines) {
  std::mt19937 random(7);
  mx_var* vars[kMany];
  uint64_t expected[kMany] = {};
  memset(results, 0, sizeof results);
  for (mx_var*& var : vars) var = mx_var_create();
  std::vector<Line> program(lines);
  for (int number = 0; number < lines; ++number) {
    Line& line = program[number];
    line =
        Line{results, number, (int)(random() % 4), 1 + (int)(random() % 2), {}, number % 997 == 0};
    mx_var* used[6];
    int32_t access[6];
    for (int k = 0; k < line.reads + line.writes; ++k) {
      line.used[k] = random() % kMany;  // one twice now and then
      used[k] = vars[line.used[k]];
      access[k] = k < line.reads ? MX_READS : MX_WRITES;
    }
    mx_operation operation{};
    operation.run = run_line;
    operation.payload = &line;
    operation.vars = used;
    operation.access = access;
    operation.nvars = line.reads + line.writes;
    require(mx_engine_push(&operation) == 0, "push");
    Line serial = line;
    serial.values = expected;
    serial.sleeps = false;
    run_line(&serial);
  }
  require(mx_engine_wait_all(-1) == 0, "wait_all");
  require(memcmp(results, expected, sizeof results) == 0, "the results of a program");
  for (mx_var* var : vars) mx_var_destroy(var);
}

// What fork does in a program, while others work.
void stop_and_start() {
  const auto repeat = [] {
    for (int i = 0; i < 20; ++i) {
      while (mx_engine_stop(10) == 1) continue;
      mx_engine_start(0);
    }
  };
  std::thread other(repeat);
  repeat();
  other.join();
}

void fail_and_heal() {
  for (int k = 0; k < 200; ++k) {
    Work* bad = new Work;
    bad->writes = {0};
    bad->fails = true;
    push(bad, MX_OP_NORMAL, 0, 1, 0);
    Work* skipped = new Work;
    skipped->reads = {0};
    skipped->writes = {1};
    push(skipped, MX_OP_NORMAL, 0, 1, 0);
    require(mx_engine_wait(cells[1].var, MX_READS, -1) == -1, "the error goes on");
    require(strcmp(mx_last_error(), "Error in operator work: planned") == 0, "its text");
    for (int i : {0, 1}) {
      Work* good = new Work;
      good->writes = {i};
      push(good, MX_OP_NORMAL, 0, 1, 0);
      require(mx_engine_wait(cells[i].var, MX_READS, -1) == 0, "writing heals");
    }
  }
  require(mx_engine_wait_all(-1) == 0, "each was told of");
}

void fork_while_busy() {
  for (int k = 0; k < 100; ++k) {
    Work* work = new Work;
    work->writes = {k % kVars};
    push(work, MX_OP_NORMAL, 0, 1, 0);
  }
  require(mx_engine_stop(-1) == 0, "stop");
  const long before = cells[0].value;
  const pid_t child = fork();
  mx_engine_start(child == 0);
  Work* work = new Work;
  work->writes = {0};
  push(work, MX_OP_NORMAL, 0, 1, 0);
  require(mx_engine_wait(cells[0].var, MX_READS, -1) == 0, "wait after fork");
  require(cells[0].value == before + 1, "work after fork");
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  require(status == 0, "the child");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  for (Cell& cell : cells) cell.var = mx_var_create();
  const mx_engine_settings all[] = {{MX_THREADED_PER_DEVICE, 1, 4, 2, 2, 0},
                                    {MX_THREADED_PER_DEVICE, 3, 1, 1, 1, 0},
                                    {MX_THREADED_ENGINE, 4, 1, 1, 1, 0},
                                    {MX_NAIVE_ENGINE, 1, 1, 1, 1, 0}};
  for (const mx_engine_settings& settings : all) {
    require(mx_engine_configure(&settings) == 0, "configure");
    run_program(30 * rounds);
    run_threads(nullptr);
    if (settings.type == MX_NAIVE_ENGINE) continue;
    run_threads(stop_and_start);
    fail_and_heal();
    fork_while_busy();
  }
  require(mx_engine_stop(-1) == 0, "stop");
  for (Cell& cell : cells) mx_var_destroy(cell.var);
  printf("done\n");
  return 0;
}
