// Stacked recurrent layers: products with weights packed once for all steps. Defined in
// ops/recurrent/layers.py.
#pragma once
#include "leaf/bump_allocator.h"
#include "leaf/matrix/gemm.h"
#include "leaf/queries.h"
#include "leaf/recurrent/shape.h"

MX_LEAF_BEGIN

// The panels of a B (k x n) that is used in many products.
template <class T>
struct Panels {
  static constexpr int kWidth = 2 * kLanes<T>;
  T* data;
  int64_t n, k;

  static int64_t size(int64_t n, int64_t k) { return round_up(n, kLanes<T>) * k + kLanes<T>; }

  void pack(int threads, const Matrix<T>& b) {
    parallel_for(threads, n, kWidth, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j += kWidth) {
        const int count = (int)least(kWidth, n - j);
        b.pack(data + j * k, count <= kLanes<T> ? kLanes<T> : kWidth, j, count, 0, k);
      }
    });
  }

  // A member's tiles of C (m x n) = A B + columns + beta * C, where the row stride of A is
  // `a_step`; columns may be NULL.
  void multiply(const TeamMember& member, int64_t m, const T* a, int64_t a_step, const T* columns,
                T beta, T* c, int64_t c_step) const {
    const TileTable<T>& tiles = tile_table(T());
    const int height = tile_height(m);
    const int64_t deep = ceil_div(m, height), count = deep * ceil_div(n, kWidth);
    for (int64_t t = member.begin(count); t < member.end(count); ++t) {
      const int64_t j = t / deep * kWidth, i = t % deep * height;
      const int columns_here = (int)least(kWidth, n - j);
      const bool wide = columns_here > kLanes<T>;
      const Scale<T> scale = {1, beta, nullptr, columns ? columns + j : nullptr};
      tiles[0][least(height, m - i) - 1][wide](k, a + i * a_step, a_step, data + j * k,
                                               wide ? kWidth : kLanes<T>, &scale,
                                               c + i * c_step + j, c_step, columns_here);
    }
  }
};

// How a team divides the steps of a direction. Sequences are independent, so if each member's L2
// cache holds the weights, it takes some sequences through all steps without waiting for others.
// Otherwise all share the product of each step, at the cost of barriers and of moving gates between
// the cores' caches.
struct StepDivision {
  static constexpr int64_t kCached = 1 << 20;  // bytes of weights
  static constexpr int64_t kFewest = 4;        // sequences of a member, whose tiles reuse weights
  bool by_sequence;
  int threads;

  StepDivision(const RnnShape& s, int team, int64_t element)
      : by_sequence(s.rows * s.out * element <= kCached && s.batch >= kFewest * team) {
    const int64_t products = s.batch * s.rows * s.out;
    const int64_t work = by_sequence ? products * s.steps / 16 : products / 4;
    threads = team > 1 ? mx_threads_for(work) : 1;
  }
};

// A team member's part of each step.
struct StepShare {
  TeamMember multiplies;  // its tiles of the product of `count` sequences from `first` on
  int64_t first, count;
  int64_t begin, end;  // the sequences whose cells it computes

  StepShare(const TeamMember& member, const StepDivision& division, int64_t batch)
      : multiplies(division.by_sequence ? TeamMember{0, 1} : member),
        first(division.by_sequence ? member.begin(batch) : 0),
        count(division.by_sequence ? member.end(batch) - first : batch),
        begin(member.begin(batch)),
        end(member.end(batch)) {}
  void meet() const { multiplies.barrier(); }
};

template <class T>
void scale_by(int threads, int64_t n, const T* x, const T* factors, T* out) {
  parallel_for(threads, n, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = x[i] * factors[i];
  });
}

template <class T>
int product(int threads, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
            const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (m == 0 || n == 0) return 0;
  return gemm_arrays(threads, GemmShape{ta, tb, m, n, k, lda, ldb, ldc}, (T)1, a, b, beta, c);
}

// The workspace for the arrays of `Buffers`.
template <template <class> class Buffers>
int64_t rnn_workspace(const mx_call* call, int32_t what) {
  if (what != MX_QUERY_WORKSPACE) return 1;
  const RnnShape s(*(const mx_rnn_params*)call->params);
  // Eight-byte elements need the most.
  BumpAllocator<double> allocator(nullptr);
  Buffers<double> counted(s, allocator);
  (void)counted;
  return allocator.bytes();
}

MX_LEAF_END
