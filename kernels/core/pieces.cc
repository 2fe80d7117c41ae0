// Sums and updates of an array by several processes that share memory.
#include "mxcy_pieces.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "core/tensor.h"
#include "machine.h"
#include "mxcy_sums.h"

namespace {

constexpr int64_t kChunkBytes = 2048;  // of sums and values, which stay in the first cache
constexpr int64_t kAhead =
    2;  // pieces that are passed before this rank's own are summed, if these came
constexpr int64_t kTurns = 64;      // per call, so that other sessions have theirs
constexpr int64_t kGlances = 1000;  // at the others' counters, some 50 us
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

class Session {
 public:
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
      const Piece piece = piece_of(step, rank);
      copy(slot(step, p_.rank, rank), source(piece.first), piece.count * size_, streams);
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
    for (int64_t done = 0, count; done < piece.count; done += count) {
      count = std::min(piece.count - done, kChunkBytes / size_);
      const void* terms[kMostRanks];
      for (int64_t rank = 0; rank < p_.ranks; ++rank)
        terms[rank] =
            rank == p_.rank ? source(piece.first + done) : slot(step, rank, p_.rank) + done * size_;
      if (p_.kernel)
        update(terms, piece.first + done, count);
      else
        add(terms, count, p_.sums + (piece.first + done - p_.cuts[p_.rank]) * size_);
    }
    report(&Counters::summed, ++p_.summed);
    if (p_.kernel) end_updates(p_.summed);
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
      hand_over(piece.first, piece.count, value(rank, piece.first));
      moved = true;
    }
    return moved;
  }

  void hand_over(int64_t first, int64_t count, const char* values) {
    if (!p_.ntargets) return;
    int64_t i = std::upper_bound(p_.starts, p_.starts + p_.ntargets + 1, first) - p_.starts - 1;
    for (int64_t length; count > 0; first += length, count -= length, ++i) {
      length = std::min(count, p_.starts[i + 1] - first);
      mx::machine::stream(p_.targets[i] + (first - p_.starts[i]) * size_, values,
                          static_cast<size_t>(length * size_));
      values += length * size_;
    }
  }

  char* value(int64_t rank, int64_t element) const {
    return p_.values[rank] + MX_PIECES_HEADER + (element - p_.cuts[rank]) * size_;
  }

 private:
  typedef std::atomic<int64_t> Counters::* Counter;
  struct Piece {
    int64_t first, count;
  };

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
  const char* source(int64_t element) const { return p_.source + element * size_; }

  static void copy(char* to, const char* from, int64_t bytes, bool streams) {
    if (streams)
      mx::machine::stream(to, from, static_cast<size_t>(bytes));
    else
      std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void add(const void* const* terms, int64_t count, void* out) {
    if (!mx_sum_arrays(p_.dtype, p_.ranks, terms, count, out, nullptr)) p_.failed = true;
  }

  // Update values by terms of their gradient, a share at a time.
  void update(const void** terms, int64_t element, int64_t count) {
    for (int64_t length; count > 0; element += length, count -= length) {
      const int64_t at = element - p_.cuts[p_.rank];
      while (p_.shares[p_.share].first + p_.shares[p_.share].length <= at) ++p_.share;
      const mx_pieces_share& share = p_.shares[p_.share];
      length = std::min(count, share.first + share.length - at);
      alignas(64) char total[kChunkBytes], apart[kChunkBytes];
      add(terms, length, total);
      char *stored = value(p_.rank, element), *weight = p_.streams ? apart : stored;
      const size_t bytes = static_cast<size_t>(length * size_);
      if (p_.streams) std::memcpy(apart, stored, bytes);
      call(share, at - share.first, length, total, weight);
      if (p_.streams) mx::machine::stream(stored, apart, bytes);
      hand_over(element, length, weight);
      for (int64_t rank = 0; rank < p_.ranks; ++rank)
        terms[rank] = static_cast<const char*>(terms[rank]) + bytes;
    }
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
  session.hand_over(first, last - first, session.value(pieces->rank, first));
  session.end_updates(pieces->steps);
}

extern "C" int64_t mx_pieces_steps(const char* values) {
  return reinterpret_cast<const Counters*>(values)->passed.load(std::memory_order_acquire);
}
