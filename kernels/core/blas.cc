// Very large matrix products are delegated to oneDNN or else a CBLAS, both opened at run time.
#include "core/blas.h"

#include <dlfcn.h>

#include <atomic>
#include <climits>
#include <mutex>
#include <string>

#include "core/fork.h"
#include "mxcy.h"
#include "onednn/library.h"

namespace mx {
namespace {

// The few CBLAS declarations used here.
enum { kRowMajor = 101, kNoTrans = 111, kTrans = 112 };
template <class T>
using CblasGemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*,
                           int);
typedef void (*SetThreads)(int);

struct Provider {
  CblasGemm<float> sgemm;
  CblasGemm<double> dgemm;
  SetThreads set_threads;
};

ForkSafeMutex g_lock;                     // guards opening a library and OpenBLAS's thread count
std::atomic<const Provider*> g_provider;  // NULL: none
std::atomic<const char*> g_offered;       // path of a library to open at the first large product
std::string g_offered_path;
int g_openblas_threads = 0;

template <class F>
bool find(void* library, const char* name, F* function) {
  *function = (F)dlsym(library, name);
  return *function != nullptr;
}

const Provider* open_cblas(void* library) {
  static Provider provider = {nullptr, nullptr, nullptr};
  const char* names[][3] = {
      {"scipy_cblas_sgemm", "scipy_cblas_dgemm", "scipy_openblas_set_num_threads"},
      {"cblas_sgemm", "cblas_dgemm", "openblas_set_num_threads"}};
  for (auto& name : names) {
    if (find(library, name[0], &provider.sgemm) && find(library, name[1], &provider.dgemm)) {
      find(library, name[2], &provider.set_threads);
      return &provider;
    }
  }
  return nullptr;
}

// Open a library; NULL with an error text if it is not a usable CBLAS.
const Provider* open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    mx_fail("%s", dlerror());
    return nullptr;
  }
  const Provider* provider = open_cblas(library);
  if (!provider) {
    mx_fail("%s: not a CBLAS with 32-bit integers", path);
    dlclose(library);
  }
  g_openblas_threads = 0;
  return provider;
}

void set_openblas_threads(const Provider* provider, int threads) {
  if (!provider->set_threads || g_openblas_threads == threads) return;
  std::lock_guard<std::mutex> guard(g_lock);
  provider->set_threads(threads);
  g_openblas_threads = threads;
}

// Below this size our own kernels are as fast (measured with AVX2 and AVX-512), and faster on small
// products.
constexpr double kMinWork = 1 << 28;  // multiply-adds

bool pays(const BlasProblem& p) {
  const int64_t most = INT_MAX;
  // A^T B, as in gradients of weights: our own kernels take 0.75 to 0.95 of the time of oneDNN and
  // OpenBLAS.
  if (p.transpose_a && !p.transpose_b) return false;
  if ((double)p.m * (double)p.n * (double)p.k < kMinWork) return false;
  return p.m <= most && p.n <= most && p.k <= most && p.lda <= most && p.ldb <= most &&
         p.ldc <= most;
}

// The provider in use; opens the offered library on the first large product.
const Provider* provider_now() {
  if (g_offered.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> guard(g_lock);
    if (const char* path = g_offered.load()) {
      const Provider* provider = open(path);
      if (provider) g_provider = provider;
      g_offered = nullptr;
    }
  }
  return g_provider.load(std::memory_order_acquire);
}

template <class T>
bool run_cblas(CblasGemm<T> gemm, const BlasProblem& p, T alpha, const T* a, const T* b, T beta,
               T* c) {
  gemm(kRowMajor, p.transpose_a ? kTrans : kNoTrans, p.transpose_b ? kTrans : kNoTrans, (int)p.m,
       (int)p.n, (int)p.k, alpha, a, (int)p.lda, b, (int)p.ldb, beta, c, (int)p.ldc);
  return true;
}

}  // namespace

bool blas_gemm(int threads, const BlasProblem& p, float alpha, const float* a, const float* b,
               float beta, float* c) {
  if (!pays(p)) return false;
  if (onednn::library()) {
    onednn::Team team(threads);
    return onednn::api().sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k,
                               alpha, a, p.lda, b, p.ldb, beta, c, p.ldc) == 0;
  }
  const Provider* provider = provider_now();
  if (!provider) return false;
  set_openblas_threads(provider, threads);
  return run_cblas(provider->sgemm, p, alpha, a, b, beta, c);
}

bool blas_gemm(int threads, const BlasProblem& p, double alpha, const double* a, const double* b,
               double beta, double* c) {
  if (!pays(p)) return false;
  const Provider* provider = provider_now();
  if (!provider) return false;
  set_openblas_threads(provider, threads);
  return run_cblas(provider->dgemm, p, alpha, a, b, beta, c);
}

}  // namespace mx

extern "C" int mx_blas_open(const char* path) {
  using namespace mx;
  std::lock_guard<std::mutex> guard(g_lock);
  g_offered = nullptr;
  const Provider* provider = path ? open(path) : nullptr;
  if (path && !provider) return -1;
  g_provider = provider;
  return 0;
}

extern "C" void mx_blas_offer(const char* path) {
  using namespace mx;
  std::lock_guard<std::mutex> guard(g_lock);
  g_offered_path = path ? path : "";
  g_offered = path ? g_offered_path.c_str() : nullptr;
}

extern "C" const char* mx_blas_name(void) {
  if (mx::onednn::g_library.load()) return "onednn";
  return mx::g_provider.load() ? "openblas" : "";
}
