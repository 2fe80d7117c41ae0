// The reduction driver.
//
// The shape is collapsed until kept and reduced dimensions alternate. The two innermost ones form a
// slab whose rows are folded into its columns: directly if the innermost dimension is kept,
// transposed if it is reduced and short; a long reduced one is folded along itself. Slabs are
// iterated over the other dimensions. Long reductions are split into pieces that depend only on the
// shape and are combined in order, so that results do not depend on the number of threads.
#include "leaf/reduce/reduce.h"
#include "leaf/simd/cast.h"
#include "leaf/simd/transpose.h"
#include "params/reduce.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kRun = 4096;  // elements of a row folded at a time
constexpr int64_t kRows = 64;   // rows folded into columns before these are added to the wide type
constexpr int64_t kColumns = 1024;      // columns folded at a time
constexpr int64_t kShortColumns = 256;  // with fewer columns several rows are processed as one
constexpr int64_t kPieces = 64, kPiece = 1 << 16;  // at most 64 pieces of at least 2^16 elements

int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

// A subset of a tensor's dimensions: number of index combinations, and the offset of each.
struct Axes {
  int n = 0;
  int64_t extent[MX_MAX_DIM], stride[MX_MAX_DIM], total = 1;

  void add(int64_t extent_, int64_t stride_) {  // innermost first
    extent[n] = extent_;
    stride[n++] = stride_;
    total *= extent_;
  }
  int64_t offset(int64_t i) const {
    if (n == 0) return 0;
    int64_t at = 0;
    for (int d = 0; d < n - 1; ++d) {
      at += i % extent[d] * stride[d];
      i /= extent[d];
    }
    return at + i * stride[n - 1];
  }
};

// Partition of a call into tasks (a block of outputs), pieces (of the elements reduced into it) and
// units (folded at a time).
struct Job {
  enum Slab { kAsItLies, kTransposed, kAlong };

  const Reduction& op;
  const char* x;
  CastRow load;  // NULL: memory has op.type
  bool folds_floats;
  int in_size, row_size;
  Slab slab;
  int64_t columns, rows;  // of the slab; kAlong has one column
  Axes kept, reduced;     // the other dimensions
  int64_t fold;           // rows processed as one
  int64_t width;          // outputs of a task, times fold
  int64_t blocks, units_per_slab, units, units_per_piece, pieces, tasks;

  Job(const Reduction& op_, const mx_call* call) : op(op_), x(data<char>(call->in[0])) {
    const auto& p = *static_cast<const mx_reduce_params*>(call->params);
    const int32_t in = call->in[0].dtype;
    load = in == op.type ? nullptr : cast_row(op.type, in);
    folds_floats = op.fold_floats && in == MX_F32;
    in_size = element_size(in);
    row_size = element_size(op.type);
    int d = read_slab(p);
    int64_t stride = columns * rows;
    for (; d >= 0; --d) {
      (is_reduced(p, d) ? reduced : kept).add(p.shape[d], stride);
      stride *= p.shape[d];
    }
    plan();
  }

  static bool is_reduced(const mx_reduce_params& p, int d) {
    return (d % 2 == 0) == (p.first_reduced != 0);
  }
  // Returns the innermost dimension that is not in the slab, or -1.
  int read_slab(const mx_reduce_params& p) {
    int d = p.ndim - 1;
    const int64_t inner = d < 0 ? 1 : p.shape[d], outer = d < 1 ? 1 : p.shape[d - 1];
    if (d < 0 || !is_reduced(p, d)) {
      slab = kAsItLies;
      columns = inner;
      rows = outer;
    } else if (inner <= kRows && outer >= kSquare<float>) {
      slab = kTransposed;
      columns = outer;
      rows = inner;
    } else {
      slab = kAlong;
      columns = 1;
      rows = inner;
      return d - 1;
    }
    return d - 2;
  }

  void plan() {
    const bool is_short = slab == kAsItLies && columns > 0 && columns <= kShortColumns / 2;
    fold = is_short ? max_of(1, min_of(kShortColumns / columns, rows)) : 1;
    const int64_t most = slab == kTransposed ? kRun / max_of(rows, 1) : kColumns;
    width = min_of(columns * fold, min_of(most, kColumns));
    blocks = ceil_div(columns * fold, max_of(width, 1));
    units_per_slab = slab == kAlong ? ceil_div(rows, kRun) : ceil_div(rows / fold, kRows);
    units = reduced.total * units_per_slab;
    const int64_t work = reduced.total * rows * max_of(width / fold, 1);
    pieces = max_of(1, min_of(min_of(kPieces, units), work / kPiece));
    if (pieces > 1) pieces -= pieces % 2;  // an equal number for two threads
    units_per_piece = ceil_div(units, pieces);
    pieces = max_of(1, ceil_div(units, max_of(units_per_piece, 1)));  // no piece is empty
    tasks = kept.total * blocks;
  }

  int64_t reduced_elements() const { return reduced.total * rows; }
  int64_t first_column(int64_t task) const { return task % blocks * width; }
  int64_t first_output(int64_t task) const { return task / blocks * columns + first_column(task); }
  int64_t outputs(int64_t task) const {
    return fold > 1 ? columns : min_of(width, columns - first_column(task));
  }

  // Fold a piece of a task into its accumulators or, if it is a single unit, into `sums`.
  void run_piece(int64_t task, int64_t piece, Wide* w, void* sums = nullptr) const {
    const int64_t begin = piece * units_per_piece;
    const char* start = x + kept.offset(task / blocks) * in_size;
    for (int64_t u = begin; u < min_of(begin + units_per_piece, units); ++u) {
      const char* from = start + reduced.offset(u / units_per_slab) * in_size;
      const int64_t part = u % units_per_slab;
      if (slab == kAlong) {
        fold_along(from + part * kRun * in_size, min_of(kRun, rows - part * kRun), w);
        continue;
      }
      alignas(64) char own[kColumns * 8];
      char* to = sums ? (char*)sums : own;
      if (slab == kTransposed)
        fold_transposed(to, from, first_column(task), outputs(task));
      else
        fold_columns(to, from, part, first_column(task));
      if (!sums) op.flush(w, to, min_of(width, columns * fold - first_column(task)));
    }
  }

  void fold_along(const char* from, int64_t n, Wide* w) const {
    if (!load) return op.fold(w, from, n);
    if (folds_floats) return op.fold_floats(w, from, n);
    alignas(64) char block[kBlock * 8];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = min_of(kBlock, n - i);
      load(block, from + i * in_size, m);
      op.fold(w, block, m);
    }
  }

  void fold_columns(char* sums, const char* from, int64_t part, int64_t first) const {
    const int64_t stride = columns * fold, n = min_of(width, stride - first), whole = rows / fold;
    const int64_t begin = part * kRows, end = min_of(begin + kRows, whole);
    for (int64_t r = begin; r < end; r += kFoldRows)
      add_rows(sums, from + (r * stride + first) * in_size, stride, min_of(kFoldRows, end - r), n,
               r == begin);
    if (end == whole)  // the rows that do not fill a long row
      for (int64_t r = whole * fold; r < rows; ++r)
        add_rows(sums, from + r * columns * in_size, columns, 1, columns, false);
  }
  void add_rows(char* sums, const char* from, int64_t stride, int64_t count, int64_t n,
                bool first) const {
    if (!load) return op.fold_rows(sums, from, stride, count, n, first);
    alignas(64) char block[kFoldRows * kColumns * 8];
    for (int64_t r = 0; r < count; ++r)
      load(block + r * n * row_size, from + r * stride * in_size, n);
    op.fold_rows(sums, block, n, count, n, first);
  }

  void fold_transposed(char* sums, const char* from, int64_t first, int64_t n) const {
    alignas(64) char block[kRun * 8], transposed[kRun * 8];
    from += first * rows * in_size;
    if (load) {
      load(block, from, n * rows);
      from = block;
    }
    if (row_size == 4)
      transpose((uint32_t*)transposed, n, (const uint32_t*)from, rows, rows, n);
    else
      transpose((uint64_t*)transposed, n, (const uint64_t*)from, rows, rows, n);
    for (int64_t r = 0; r < rows; r += kFoldRows)
      op.fold_rows(sums, transposed + r * n * row_size, n, min_of(kFoldRows, rows - r), n, r == 0);
  }

  // Combine the accumulators of rows that were processed as one.
  void unfold(Wide* w) const {
    alignas(64) Wide total[kShortColumns + kVecBytes], next[kShortColumns + kVecBytes];
    if (fold == 1) return;
    memcpy(total, w, columns * sizeof *w);
    for (int64_t r = 1; r < fold; ++r) {
      memcpy(next, w + r * columns, columns * sizeof *w);
      op.join(total, next, columns);
    }
    memcpy(w, total, columns * sizeof *w);
  }
  void neutral(Wide* w) const {
    for (int64_t i = 0; i < width; ++i) w[i] = op.neutral;
  }
};

// Destination of results: accumulators are finished and cast to the output's dtype.
struct Output {
  char* data;
  int size;
  CastRow save;

  Output(const mx_tensor& out, int32_t wide_type)
      : data((char*)out.data),
        size(element_size(out.dtype)),
        save(cast_row(out.dtype, wide_type)) {}
  char* at(int64_t i) const { return data + i * size; }
  void write(const Job& job, int64_t i, Wide* w, int64_t n) const {
    job.op.finish(w, n, job.reduced_elements());
    save(at(i), w, n);
  }
};

// Run tasks [begin, end) on their pieces: already computed in `ready`, or computed here.
void run_tasks(const Job& job, const Output& out, const Wide* ready, int64_t begin, int64_t end) {
  const int64_t width = job.width;
  const auto get_piece = [&](int64_t task, int64_t i, Wide* w) {
    if (ready) {
      memcpy(w, ready + (task * job.pieces + i) * width, width * sizeof *w);
    } else {
      job.neutral(w);
      job.run_piece(task, i, w);
    }
  };
  alignas(64) Wide total[kColumns + kVecBytes], piece[kColumns + kVecBytes];
  int64_t filled = 0;  // results of single rows are buffered until a block is complete
  for (int64_t task = begin; task < end; ++task) {
    Wide* w = total + filled;
    get_piece(task, 0, w);
    for (int64_t i = 1; i < job.pieces; ++i) {
      get_piece(task, i, piece);
      job.op.join(w, piece, width);
    }
    if (job.slab != Job::kAlong) {
      job.unfold(w);
      out.write(job, job.first_output(task), w, job.outputs(task));
    } else if (++filled == kColumns || task + 1 == end) {
      out.write(job, task + 1 - filled, total, filled);
      filled = 0;
    }
  }
}

// Tasks of a single unit, folded directly into the output.
void run_single_units(const Job& job, const Output& out, int64_t begin, int64_t end) {
  for (int64_t task = begin; task < end; ++task) {
    char* to = out.at(job.first_output(task));
    job.run_piece(task, 0, nullptr, to);
    job.op.finish_columns(to, job.outputs(task), job.reduced_elements());
  }
}

// With too few tasks for the threads: pieces in parallel, then the rest in order.
int run_pieces(const mx_call* call, const Job& job, const Output& out) {
  const int64_t total = job.tasks * job.pieces, bytes = total * job.width * sizeof(Wide);
  Wide* ready = (Wide*)mx_system_alloc(bytes);
  if (!ready) return -1;
  parallel_for(call->threads, total, 1, [&](int64_t begin, int64_t end) {
    alignas(64) Wide piece[kColumns + kVecBytes];
    for (int64_t i = begin; i < end; ++i) {
      job.neutral(piece);
      job.run_piece(i / job.pieces, i % job.pieces, piece);
      memcpy(ready + i * job.width, piece, job.width * sizeof *piece);
    }
  });
  run_tasks(job, out, ready, 0, job.tasks);
  mx_system_free(ready);
  return 0;
}

}  // namespace

int run_reduction(const mx_call* call, const Reduction& op) {
  const Job job(op, call);
  const Output out(call->out[0], op.wide_type);
  if (call->threads > 1 && job.pieces > 1 && job.tasks < 2 * call->threads)
    return run_pieces(call, job, out);
  const int64_t work = job.reduced_elements() * max_of(job.width / job.fold, 1);
  const int64_t grain = max_of(1, kPiece / 8 / max_of(work, 1));
  const bool single =
      job.slab != Job::kAlong && job.units == 1 && job.fold == 1 && call->out[0].dtype == op.type;
  parallel_for(call->threads, job.tasks, grain, [&](int64_t begin, int64_t end) {
    single ? run_single_units(job, out, begin, end) : run_tasks(job, out, nullptr, begin, end);
  });
  return 0;
}

MX_LEAF_END
