// The seam to a BLAS opened at run time.
#include "core/blas.h"

#include <dlfcn.h>
#include <omp.h>

#include <atomic>
#include <climits>
#include <mutex>
#include <string>

#include "mxcy.h"

namespace mx {
namespace {

// The few declarations of the foreign interfaces that are called here.
struct DnnlVersion {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};
constexpr unsigned kDnnlRuntimeOmp = 2;
typedef const DnnlVersion* (*DnnlVersionFn)();
typedef int (*DnnlSgemm)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t,
                         const float*, int64_t, float, float*, int64_t);
enum { kRowMajor = 101, kNoTrans = 111, kTrans = 112 };
template <class T>
using CblasGemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*,
                           int);
typedef void (*SetThreads)(int);

struct Provider {
  const char* name;
  DnnlSgemm dnnl_sgemm;
  CblasGemm<float> sgemm;
  CblasGemm<double> dgemm;
  SetThreads set_threads;
};

std::mutex g_lock;                        // of opening, and of OpenBLAS's thread count
std::atomic<const Provider*> g_provider;  // NULL: none
std::atomic<const char*> g_offered;       // a path that is still to be opened
std::string g_offered_path;
int g_openblas_threads = 0;

template <class F>
bool find(void* library, const char* name, F* function) {
  *function = (F)dlsym(library, name);
  return *function != nullptr;
}

const Provider* open_onednn(void* library) {
  DnnlVersionFn version;
  static Provider found = {"onednn", nullptr, nullptr, nullptr, nullptr};
  if (!find(library, "dnnl_version", &version)) return nullptr;
  const DnnlVersion* v = version();
  if (v->major < 3 || v->cpu_runtime != kDnnlRuntimeOmp) {
    mx_fail("oneDNN %d.%d with CPU runtime %u: version 3 with the OpenMP runtime (%u) is needed",
            v->major, v->minor, v->cpu_runtime, kDnnlRuntimeOmp);
    return nullptr;
  }
  return find(library, "dnnl_sgemm", &found.dnnl_sgemm) ? &found : nullptr;
}

const Provider* open_cblas(void* library) {
  static Provider found = {"openblas", nullptr, nullptr, nullptr, nullptr};
  const char* names[][3] = {
      {"scipy_cblas_sgemm", "scipy_cblas_dgemm", "scipy_openblas_set_num_threads"},
      {"cblas_sgemm", "cblas_dgemm", "openblas_set_num_threads"}};
  for (auto& name : names) {
    if (find(library, name[0], &found.sgemm) && find(library, name[1], &found.dgemm)) {
      find(library, name[2], &found.set_threads);
      return &found;
    }
  }
  return nullptr;
}

// Open a library and see what it is; NULL with an error text when it serves no purpose here.
const Provider* open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    mx_fail("%s", dlerror());
    return nullptr;
  }
  mx_fail("%s: neither oneDNN nor a CBLAS with 32-bit integers", path);
  const Provider* found = open_onednn(library);
  if (!found) found = open_cblas(library);
  if (!found) dlclose(library);
  g_openblas_threads = 0;
  return found;
}

void set_openblas_threads(const Provider* provider, int threads) {
  if (!provider->set_threads || g_openblas_threads == threads) return;
  std::lock_guard<std::mutex> guard(g_lock);
  provider->set_threads(threads);
  g_openblas_threads = threads;
}

// The own kernels are as fast up to here (measured with AVX2 and AVX-512), and faster on small
// ones.
constexpr double kWorth = 1 << 28;  // multiply-adds

bool pays(const BlasProblem& p) {
  const int64_t most = INT_MAX;
  if ((double)p.m * (double)p.n * (double)p.k < kWorth) return false;
  return p.m <= most && p.n <= most && p.k <= most && p.lda <= most && p.ldb <= most &&
         p.ldc <= most;
}

// The provider in use; the first large product opens the one on offer.
const Provider* provider_now() {
  if (g_offered.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> guard(g_lock);
    if (const char* path = g_offered.load()) {
      const Provider* found = open(path);
      if (found) g_provider = found;
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
  const Provider* provider = provider_now();
  if (!provider) return false;
  if (provider->dnnl_sgemm) {
    const int before = omp_get_max_threads();
    if (before != threads) omp_set_num_threads(threads);
    const int status =
        provider->dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k,
                             alpha, a, p.lda, b, p.ldb, beta, c, p.ldc);
    if (before != threads) omp_set_num_threads(before);
    return status == 0;
  }
  set_openblas_threads(provider, threads);
  return run_cblas(provider->sgemm, p, alpha, a, b, beta, c);
}

bool blas_gemm(int threads, const BlasProblem& p, double alpha, const double* a, const double* b,
               double beta, double* c) {
  if (!pays(p)) return false;
  const Provider* provider = provider_now();
  if (!provider || !provider->dgemm) return false;
  set_openblas_threads(provider, threads);
  return run_cblas(provider->dgemm, p, alpha, a, b, beta, c);
}

}  // namespace mx

extern "C" int mx_blas_open(const char* path) {
  using namespace mx;
  std::lock_guard<std::mutex> guard(g_lock);
  g_offered = nullptr;
  const Provider* found = path ? open(path) : nullptr;
  if (path && !found) return -1;
  g_provider = found;
  return 0;
}

extern "C" void mx_blas_offer(const char* path) {
  using namespace mx;
  std::lock_guard<std::mutex> guard(g_lock);
  g_offered_path = path ? path : "";
  g_offered = path ? g_offered_path.c_str() : nullptr;
}

extern "C" const char* mx_blas_name(void) {
  const mx::Provider* provider = mx::g_provider;
  return provider ? provider->name : "";
}
