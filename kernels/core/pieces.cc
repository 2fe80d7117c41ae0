// Sums and updates of an array by several processes that share memory.
#include "mxcy_pieces.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "core/sum_types.h"
#include "core/tensor.h"
#include "machine.h"

namespace {

constexpr int64_t kChunkBytes = 2048;  // of sums and values, which stay in the first cache
constexpr int64_t kAhead =
    2;  // pieces that are passed before this rank's own are summed, if these came
constexpr int64_t kTurns = 64;    // per call, so that other sessions have theirs
constexpr int64_t kGlances = 64;  // at the others' counters, some 3 us
constexpr int64_t kMostRanks = MX_PIECES_RANKS, kMostStates = MX_PIECES_STATES;
constexpr int64_t kProbe = 1;      // this step passes through the caches, the next one past them
constexpr int64_t kFarCaches = 2;  // writing through the caches must not take so many times as long

// What a rank has done, in steps of all sessions; each counter has a cache line of its own.
struct Counters {
  alignas(64) std::atomic<int64_t> passed;
  alignas(64) std::atomic<int64_t> summed;  // and read what others have passed
  alignas(64) std::atomic<int64_t> updated;
  alignas(64) int64_t slots[MX_PIECES_SLOTS];  // of steps modulo their number
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class T>
void sum_arrays(const void* const* terms, int64_t arrays, int64_t count, T* out) {
  const T *first = static_cast<const T*>(terms[0]), *second = static_cast<const T*>(terms[1]);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(first[i] + second[i]);
  for (int64_t t = 2; t < arrays; ++t) {
    const T* other = static_cast<const T*>(terms[t]);
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(out[i] + other[i]);
  }
}

class Session {
 public:
  struct Piece {
    int64_t first, count;
  };

  explicit Session(mx_pieces& p) : p_(p), size_(mx::item_size(p.dtype)) {}

  bool over() const {
    return p_.updated == p_.steps && p_.passed == p_.steps &&
           std::all_of(p_.taken, p_.taken + p_.ranks, [&](int64_t n) { return n == p_.steps; });
  }
  bool summed() const { return p_.summed == p_.steps && p_.updated < p_.steps; }

  bool begun() const { return p_.passed > 0 && others_have(&Counters::passed, 1); }

  // Pass the next pieces to their ranks, if a slot is free.
  bool pass(int64_t ahead) {
    const int64_t step = p_.passed;
    if (step == p_.steps || step >= p_.summed + ahead) return false;
    const int64_t number = free_slot();
    if (number == p_.slots) return false;
    counters(p_.rank).slots[(p_.base + step) % MX_PIECES_SLOTS] = number;
    p_.users[number] = p_.base + step + 1;
    const bool probes = step == kProbe || step == kProbe + 1;
    const bool streams = probes ? step > kProbe : p_.streams != 0;
    const int64_t began = probes ? now() : 0;
    for (int64_t rank = 0; rank < p_.ranks; ++rank) {
      if (rank == p_.rank) continue;
      gather(piece_of(step, rank), slot(step, p_.rank, rank), streams);
    }
    mx::machine::order_streams();
    report(&Counters::passed, ++p_.passed);
    if (probes) p_.nanoseconds[step - kProbe] = now() - began;
    if (step == kProbe + 1) p_.streams = p_.nanoseconds[0] > kFarCaches * p_.nanoseconds[1];
    return true;
  }

  // Sum the next piece of this rank's part, and update its values.
  bool sum() {
    const int64_t step = p_.summed;
    if (!p_.ready || step == p_.steps || !others_have(&Counters::passed, step + 1)) return false;
    const Piece piece = piece_of(step, p_.rank);
    const void* terms[kMostRanks];
    for_runs(piece, kChunkBytes / size_, [&](int64_t done, int64_t key, int64_t at, int64_t count) {
      for (int64_t rank = 0; rank < p_.ranks; ++rank)
        terms[rank] = rank == p_.rank ? p_.sources[key] + at * size_
                                      : slot(step, rank, p_.rank) + done * size_;
      const int64_t element = piece.first + done;
      alignas(64) char values[kChunkBytes];
      if (p_.kernel)
        update(terms, element, count, values);
      else if (p_.sums)
        return add(terms, count, p_.sums + (element - p_.cuts[p_.rank]) * size_);
      else
        replace(terms, element, count, values);
      if (p_.targets) write(key, at, values, count);
    });
    report(&Counters::summed, ++p_.summed);
    if (p_.kernel || !p_.sums) end_updates(p_.summed);
    return true;
  }

  void end_updates(int64_t steps) {
    mx::machine::order_streams();
    p_.updated = p_.taken[p_.rank] = steps;
    report(&Counters::updated, steps);
  }

  // Copy one piece of each other rank's new values to the targets.
  bool take() {
    bool moved = false;
    for (int64_t rank = 0; rank < p_.ranks; ++rank) {
      int64_t& step = p_.taken[rank];
      if (rank == p_.rank || step == p_.steps || !has(rank, &Counters::updated, step + 1)) continue;
      const Piece piece = piece_of(step++, rank);
      hand_over(piece, value(rank, piece.first));
      moved = true;
    }
    return moved;
  }

  // Copy values to the targets.
  void hand_over(Piece piece, const char* values) {
    if (!p_.targets) return;
    for_runs(piece, piece.count, [&](int64_t done, int64_t key, int64_t at, int64_t count) {
      write(key, at, values + done * size_, count);
    });
  }

  char* value(int64_t rank, int64_t element) const {
    return p_.values[rank] + MX_PIECES_HEADER + (element - p_.cuts[rank]) * size_;
  }

 private:
  typedef std::atomic<int64_t> Counters::* Counter;

  Counters& counters(int64_t rank) const { return *reinterpret_cast<Counters*>(p_.values[rank]); }
  bool has(int64_t rank, Counter counter, int64_t steps) const {
    return (counters(rank).*counter).load(std::memory_order_acquire) >= p_.base + steps;
  }
  bool others_have(Counter counter, int64_t steps) const {
    for (int64_t rank = 0; rank < p_.ranks; ++rank)
      if (rank != p_.rank && !has(rank, counter, steps)) return false;
    return true;
  }
  void report(Counter counter, int64_t steps) {
    (counters(p_.rank).*counter).store(p_.base + steps, std::memory_order_release);
  }

  Piece piece_of(int64_t step, int64_t rank) const {
    const int64_t end = p_.cuts[rank + 1];
    const int64_t first = std::min(p_.cuts[rank] + step * p_.piece, end);
    return {first, std::min(p_.piece, end - first)};
  }
  char* slot(int64_t step, int64_t writer, int64_t reader) const {
    const int64_t number = counters(writer).slots[(p_.base + step) % MX_PIECES_SLOTS];
    const int64_t place = (reader - writer - 1 + p_.ranks) % p_.ranks;
    return p_.inputs[writer] + (number * (p_.ranks - 1) + place) * p_.piece * size_;
  }
  // The first slot that everybody has read, as it is the likeliest to be in the cache.
  int64_t free_slot() const {
    int64_t read = INT64_MAX;
    for (int64_t rank = 0; rank < p_.ranks; ++rank)
      if (rank != p_.rank)
        read = std::min(read, counters(rank).summed.load(std::memory_order_acquire));
    return std::find_if(p_.users, p_.users + p_.slots, [&](int64_t n) { return n <= read; }) -
           p_.users;
  }
  // Call `run(done, key, at, count)` for all that is contiguous in the arrays of keys: `count`
  // elements, `done` after the first one of the piece, at element `at` of the key.
  template <class Run>
  void for_runs(Piece piece, int64_t most, const Run& run) const {
    int64_t key = std::upper_bound(p_.starts, p_.starts + p_.keys + 1, piece.first) - p_.starts - 1;
    for (int64_t done = 0, count; done < piece.count; done += count) {
      const int64_t element = piece.first + done;
      while (p_.starts[key + 1] <= element) ++key;
      count = std::min({most, piece.count - done, p_.starts[key + 1] - element});
      run(done, key, element - p_.starts[key], count);
    }
  }
  void gather(Piece piece, char* to, bool streams) const {
    for_runs(piece, piece.count, [&](int64_t done, int64_t key, int64_t at, int64_t count) {
      copy(to + done * size_, p_.sources[key] + at * size_, count * size_, streams);
    });
  }

  // Copy values to a target, past the caches unless this rank has just read it as a source.
  void write(int64_t key, int64_t at, const char* values, int64_t count) {
    const bool in_place = p_.targets[key] == p_.sources[key];
    copy(p_.targets[key] + at * size_, values, count * size_, p_.streams || !in_place);
  }
  static void copy(char* to, const char* from, int64_t bytes, bool past_caches) {
    if (past_caches)
      mx::machine::stream(to, from, static_cast<size_t>(bytes));
    else
      std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void add(const void* const* terms, int64_t count, void* out) {
    const bool known = mx::with_sum_type(p_.dtype, [&](auto zero) {
      sum_arrays(terms, p_.ranks, count, static_cast<decltype(zero)*>(out));
    });
    if (!known) p_.failed = true;
  }

  // Have sums as values.
  void replace(const void* const* terms, int64_t element, int64_t count, char* values) {
    add(terms, count, values);
    copy(value(p_.rank, element), values, count * size_, p_.streams);
  }

  // Update values by terms of their gradient, all of one share.
  void update(const void* const* terms, int64_t element, int64_t count, char* values) {
    const int64_t at = element - p_.cuts[p_.rank];
    while (p_.shares[p_.share].first + p_.shares[p_.share].length <= at) ++p_.share;
    const mx_pieces_share& share = p_.shares[p_.share];
    alignas(64) char total[kChunkBytes];
    add(terms, count, total);
    char* stored = value(p_.rank, element);
    std::memcpy(values, stored, static_cast<size_t>(count * size_));
    call(share, at - share.first, count, total, values);
    copy(stored, values, count * size_, p_.streams);
  }
  void call(const mx_pieces_share& share, int64_t from, int64_t length, char* total, char* weight) {
    mx_tensor ins[kMostStates + 3], out = {weight, &length, nullptr, 1, p_.dtype};
    ins[0] = out;
    ins[1] = {total, &length, nullptr, 1, p_.dtype};
    for (int64_t i = 0; i < p_.nstates; ++i)
      ins[2 + i] = {static_cast<char*>(share.states[i]) + from * size_, &length, nullptr, 1,
                    p_.dtype};
    ins[2 + p_.nstates] = {const_cast<double*>(share.rates), &p_.nrates, nullptr, 1, MX_F64};
    const int32_t request = MX_WRITE;
    mx_call call = {};
    call.nin = static_cast<int32_t>(p_.nstates) + 3, call.nout = 1;
    call.in = ins, call.out = &out, call.req = &request;
    call.params = p_.params, call.threads = 1;
    if (p_.kernel(&call)) p_.failed = true;
  }

  mx_pieces& p_;
  int64_t size_;
};

}  // namespace

extern "C" int mx_pieces_advance(mx_pieces* pieces) {
  Session session(*pieces);
  for (int64_t turns = 0, glances = 0; turns < kTurns && glances < kGlances;) {
    bool moved = session.pass(kAhead);
    moved |= session.sum();
    moved |= session.take();
    if (!moved) moved = session.pass(pieces->steps);
    if (session.over()) return pieces->failed ? MX_PIECES_FAILED : MX_PIECES_DONE;
    if (moved) {
      ++turns, glances = 0;
    } else if (!pieces->ready && session.begun()) {
      return MX_PIECES_READY;
    } else if (session.summed()) {
      return MX_PIECES_SUMMED;
    } else {
      ++glances;
      mx::machine::pause();
    }
  }
  return MX_PIECES_WAITS;
}

extern "C" void mx_pieces_updated(mx_pieces* pieces) {
  Session session(*pieces);
  const int64_t first = pieces->cuts[pieces->rank], last = pieces->cuts[pieces->rank + 1];
  session.hand_over({first, last - first}, session.value(pieces->rank, first));
  session.end_updates(pieces->steps);
}

extern "C" int64_t mx_pieces_steps(const char* values) {
  return reinterpret_cast<const Counters*>(values)->passed.load(std::memory_order_acquire);
}
