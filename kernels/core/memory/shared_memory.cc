// Shared memory: an unnamed file in /dev/shm or, as containers often leave only a few megabytes
// there, a memfd, which no file system limits.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "mxcy_shared.h"

namespace {

struct alignas(64) Header {
  std::atomic<int32_t> users;
};

// Allocates the file's memory; otherwise closes it and returns a negative error number.
int filled(int fd, size_t bytes) {
  if (fd < 0) return -errno;
  const int error = posix_fallocate(fd, 0, (off_t)bytes);
  if (error == 0) return fd;
  close(fd);
  return -error;
}

int in_file_system(size_t bytes) {
  return filled(open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), bytes);
}

// Bytes available without swapping; no limit if the system does not report it.
size_t available() {
  char line[128];
  unsigned long kilobytes = 0;
  FILE* file = fopen("/proc/meminfo", "re");
  if (!file) return (size_t)-1;
  while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lu", &kilobytes) != 1) {
  }
  fclose(file);
  return kilobytes ? (size_t)kilobytes << 10 : (size_t)-1;
}

int in_memory(size_t bytes) {
  if (available() < bytes) return -ENOMEM;  // allocating anyway would trigger the OOM killer
  return filled(memfd_create("mxcy", MFD_CLOEXEC), bytes);
}

int map(int fd, size_t bytes, mx_segment* segment) {
  void* memory = mmap(nullptr, sizeof(Header) + bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, fd, 0);
  if (memory == MAP_FAILED) {
    mx_fail("cannot map %zu bytes of shared memory: %s", bytes, strerror(errno));
    close(fd);
    return -1;
  }
  segment->data = static_cast<char*>(memory) + sizeof(Header);
  segment->bytes = bytes;
  segment->fd = fd;
  segment->process = (int32_t)getpid();
  return 0;
}

Header* header(const mx_segment* segment) { return static_cast<Header*>(segment->data) - 1; }

}  // namespace

extern "C" int mx_segment_create(size_t bytes, mx_segment* segment) {
  const size_t all = sizeof(Header) + bytes;
  if (bytes > (size_t)1 << 62) return mx_fail("cannot share %zu bytes of memory", bytes);
  const int first = in_file_system(all);
  const int fd = first >= 0 ? first : in_memory(all);
  if (fd < 0)
    return mx_fail(
        "cannot share %zu bytes of memory: /dev/shm: %s; memfd: %s. Free some, or "
        "use fewer workers or smaller batches",
        bytes, strerror(-first), strerror(-fd));
  if (map(fd, bytes, segment) != 0) return -1;
  new (header(segment)) Header{{1}};
  return 0;
}

extern "C" void mx_segment_lend(const mx_segment* segment) { header(segment)->users.fetch_add(1); }

extern "C" int mx_segment_attach(int32_t fd, size_t bytes, int32_t keep, int32_t lent,
                                 mx_segment* segment) {
  struct stat file;
  if (fstat(fd, &file) != 0) return mx_fail("not a shared memory segment: %s", strerror(errno));
  if ((size_t)file.st_size < sizeof(Header) + bytes) {
    close(fd);
    return mx_fail("a shared memory segment has %lld bytes, expected %zu", (long long)file.st_size,
                   sizeof(Header) + bytes);
  }
  if (map(fd, bytes, segment) != 0) return -1;
  if (!lent) mx_segment_lend(segment);
  if (!keep) {
    close(fd);
    segment->fd = -1;
  }
  return 0;
}

extern "C" int32_t mx_segment_users(const mx_segment* segment) {
  return header(segment)->users.load();
}

extern "C" void mx_segment_release(mx_segment* segment) {
  if (!segment->data) return;
  if (segment->process == (int32_t)getpid()) header(segment)->users.fetch_sub(1);
  munmap(header(segment), sizeof(Header) + segment->bytes);
  if (segment->fd >= 0) close(segment->fd);
  segment->data = nullptr;
}
