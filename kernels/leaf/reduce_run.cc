// How a reduction call is cut up.
//
// The shape is collapsed until kept and reduced dimensions alternate. When the innermost one is
// reduced, an output is a fold of contiguous rows; when it is kept, rows are folded into columns.
// Long reductions are cut into pieces that depend on the shape alone and are joined in order, so
// that results do not depend on the number of threads.
#include "cast.h"
#include "reduce.h"
#include "vec.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kRun = 4096;       // elements of a row folded at a time
constexpr int64_t kRows = 64;        // rows folded into columns before they go to the wide type
constexpr int64_t kColumns = 1024;   // columns folded at a time
constexpr int64_t kShortColumns = 256;  // fewer columns: several rows are taken as one
constexpr int64_t kPieces = 64, kPiece = 1 << 16;  // at most so many, of at least so many elements

int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Some dimensions of a tensor: how many index combinations, and where each of them starts.
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

// A call as tasks (a block of outputs) of pieces (of what is reduced into them) of units (what is
// folded at a time).
struct Job {
  const Reduction &op;
  const char *x;
  CastRow load;  // null: memory holds op.type
  int in_size, row_size;
  bool columns;         // the innermost dimension is kept
  Axes kept, reduced;   // dimensions without `inner` and, with columns, without `rows`
  int64_t inner, rows;  // extents of the innermost dimensions; rows is 1 without columns
  int64_t fold;         // rows taken as one
  int64_t width;        // outputs of a task, times fold
  int64_t blocks, units_per_combination, units, pieces, tasks;

  Job(const Reduction &op_, const mx_call *call) : op(op_), x(data<char>(call->in[0])) {
    const auto &p = *static_cast<const mx_reduce_params *>(call->params);
    const int32_t in = call->in[0].dtype;
    load = in == op.type ? nullptr : cast_row(op.type, in);
    in_size = element_size(in);
    row_size = element_size(op.type);

    const auto is_reduced = [&](int d) { return (d % 2 == 0) == (p.first_reduced != 0); };
    int d = p.ndim - 1;
    columns = d < 0 || !is_reduced(d);
    inner = d < 0 ? 1 : p.shape[d--];
    rows = columns && d >= 0 ? p.shape[d--] : 1;
    int64_t stride = inner * rows;
    for (; d >= 0; --d) {
      (is_reduced(d) ? reduced : kept).add(p.shape[d], stride);
      stride *= p.shape[d];
    }

    const bool is_short = columns && inner > 0 && inner <= kShortColumns / 2;
    fold = is_short ? max_of(1, min_of(kShortColumns / inner, rows)) : 1;
    width = columns ? min_of(inner * fold, kColumns) : 1;
    blocks = columns ? ceil_div(inner * fold, max_of(width, 1)) : 1;
    units_per_combination = columns ? ceil_div(rows / fold, kRows) : ceil_div(inner, kRun);
    units = reduced.total * units_per_combination;
    const int64_t length = reduced.total * (columns ? rows * min_of(width, inner) : inner);
    pieces = max_of(1, min_of(min_of(kPieces, units), length / kPiece));
    tasks = kept.total * blocks;
  }

  int64_t outputs_of(int64_t task) const {
    return !columns ? 1 : fold > 1 ? inner : min_of(width, inner - task % blocks * width);
  }
  int64_t reduced_elements() const { return reduced.total * (columns ? rows : inner); }

  // Fold a piece of a task into the task's accumulators.
  void run_piece(int64_t task, int64_t piece, Wide *w) const {
    const int64_t each = ceil_div(units, pieces), begin = piece * each;
    const char *start = x + kept.offset(task / blocks) * in_size;
    for (int64_t u = begin; u < min_of(begin + each, units); ++u) {
      const char *from = start + reduced.offset(u / units_per_combination) * in_size;
      const int64_t part = u % units_per_combination;
      if (columns)
        fold_columns(from, part, task % blocks * width, w);
      else
        fold_row(from + part * kRun * in_size, min_of(kRun, inner - part * kRun), w);
    }
  }

  void fold_row(const char *from, int64_t n, Wide *w) const {
    if (!load) return op.fold(w, from, n);
    alignas(64) char block[kBlock * 8];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = min_of(kBlock, n - i);
      load(block, from + i * in_size, m);
      op.fold(w, block, m);
    }
  }

  void fold_columns(const char *from, int64_t part, int64_t first, Wide *w) const {
    alignas(64) char sums[kColumns * 8];
    const int64_t stride = inner * fold, n = min_of(width, stride - first), whole = rows / fold;
    const int64_t begin = part * kRows, end = min_of(begin + kRows, whole);
    op.clear(sums, n);
    for (int64_t r = begin; r < end; r += kFoldRows)
      add_rows(sums, from + (r * stride + first) * in_size, stride, min_of(kFoldRows, end - r), n);
    if (end == whole)  // the rows that fill no long row
      for (int64_t r = whole * fold; r < rows; ++r)
        add_rows(sums, from + r * inner * in_size, inner, 1, inner);
    op.flush(w, sums, n);
  }

  void add_rows(char *sums, const char *from, int64_t stride, int64_t count, int64_t n) const {
    if (!load) return op.fold_rows(sums, from, stride, count, n);
    alignas(64) char block[kFoldRows * kColumns * 8];
    for (int64_t r = 0; r < count; ++r)
      load(block + r * n * row_size, from + r * stride * in_size, n);
    op.fold_rows(sums, block, n, count, n);
  }

  // Join the accumulators of rows that were taken as one.
  void unfold(Wide *w) const {
    alignas(64) Wide total[kShortColumns + kVecBytes], next[kShortColumns + kVecBytes];
    if (fold == 1) return;
    memcpy(total, w, inner * sizeof *w);
    for (int64_t r = 1; r < fold; ++r) {
      memcpy(next, w + r * inner, inner * sizeof *w);
      op.join(total, next, inner);
    }
    memcpy(w, total, inner * sizeof *w);
  }
  void neutral(Wide *w) const {
    for (int64_t i = 0; i < width; ++i) w[i] = op.neutral;
  }
};

// Where results go: accumulators are finished and cast to the output's type.
struct Output {
  char *data;
  int size;
  CastRow save;

  Output(const mx_tensor &out, int32_t wide_type)
      : data((char *)out.data), size(element_size(out.dtype)), save(cast_row(out.dtype, wide_type)) {}
  void write(const Job &job, int64_t at, Wide *w, int64_t n) const {
    job.op.finish(w, n, job.reduced_elements());
    save(data + at * size, w, n);
  }
};

// Tasks [begin, end), from their pieces: `ready` holds these, or they are still to be run.
void run_tasks(const Job &job, const Output &out, const Wide *ready, int64_t begin, int64_t end) {
  const int64_t width = job.width;
  const auto get_piece = [&](int64_t task, int64_t i, Wide *w) {
    if (ready) {
      memcpy(w, ready + (task * job.pieces + i) * width, width * sizeof *w);
    } else {
      job.neutral(w);
      job.run_piece(task, i, w);
    }
  };
  alignas(64) Wide total[kColumns + kVecBytes], piece[kColumns + kVecBytes];
  int64_t filled = 0;  // results of rows wait until a block of them is complete
  for (int64_t task = begin; task < end; ++task) {
    Wide *w = total + filled;
    get_piece(task, 0, w);
    for (int64_t i = 1; i < job.pieces; ++i) {
      get_piece(task, i, piece);
      job.op.join(w, piece, width);
    }
    if (job.columns) {
      job.unfold(w);
      const int64_t at = task / job.blocks * job.inner + task % job.blocks * width;
      out.write(job, at, w, job.outputs_of(task));
    } else if (++filled == kColumns || task + 1 == end) {
      out.write(job, task + 1 - filled, total, filled);
      filled = 0;
    }
  }
}

}  // namespace

int run_reduction(const mx_call *call, const Reduction &op) {
  const Job job(op, call);
  const Output out(call->out[0], op.wide_type);
  const int64_t work = job.reduced_elements() * max_of(job.width, 1);
  const int64_t grain = max_of(1, kPiece / 8 / max_of(work, 1));
  if (call->threads > 1 && job.pieces > 1 && job.tasks < 2 * call->threads) {
    const int64_t total = job.tasks * job.pieces;
    Wide *ready = (Wide *)mx_alloc(total * job.width * sizeof(Wide));
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
    mx_free(ready, total * job.width * sizeof(Wide));
    return 0;
  }
  parallel_for(call->threads, job.tasks, grain, [&](int64_t begin, int64_t end) {
    run_tasks(job, out, nullptr, begin, end);
  });
  return 0;
}

MX_LEAF_END
