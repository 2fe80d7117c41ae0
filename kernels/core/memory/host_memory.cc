// Reads /proc/meminfo and cgroup limits.
#include "core/memory/host_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mxcy_storage.h"

namespace mx {
namespace {

constexpr size_t kUnknown = ~(size_t)0;
constexpr size_t kNoLimit = (size_t)1 << 60;  // cgroup v1 writes a huge number for "no limit"

// Contents of a small file; empty if it cannot be read.
std::string text_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(file, part, sizeof part)) > 0;) text.append(part, n);
  close(file);
  return text;
}

// The number after a line's first word, such as "MemTotal:"; kUnknown if there is no such line.
size_t value_of(const std::string& text, const char* word) {
  const size_t length = strlen(word);
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, length, word) == 0 && isspace((unsigned char)text[at + length]))
      return strtoull(text.c_str() + at + length, nullptr, 10);
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return kUnknown;
}

// The number in a file; kUnknown for "max" and for missing files.
size_t number_in(const std::string& path) {
  const std::string text = text_of(path);
  return text.empty() || !isdigit((unsigned char)text[0]) ? kUnknown
                                                          : strtoull(text.c_str(), nullptr, 10);
}

// Path of this process's cgroup for a controller; "" means version 2.
std::string group_of(const std::string& groups, const std::string& controller) {
  for (size_t at = 0; at < groups.size();) {
    const size_t end = std::min(groups.find('\n', at), groups.size());
    const std::string line = groups.substr(at, end - at);
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second != std::string::npos) {
      const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
      if (names.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
    }
    at = end + 1;
  }
  return "/";  // a container may hide the path; the mount point is then its own group
}

// Files of one cgroup version.
struct Version {
  const char *mount, *controller, *limit, *usage, *cached;
};
constexpr Version kVersions[] = {
    {"/sys/fs/cgroup", "", "memory.max", "memory.current", "inactive_file"},
    {"/sys/fs/cgroup/unified", "", "memory.max", "memory.current", "inactive_file"},
    {"/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};

// Lower the figures to the limits of a cgroup and its parents.
void obey_groups(const std::string& root, const Version& version, std::string group, size_t* free,
                 size_t* total) {
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    const std::string folder = root + version.mount + group + "/";
    const size_t limit = number_in(folder + version.limit);
    if (limit < kNoLimit) {
      const size_t usage = number_in(folder + version.usage);
      const size_t cached = value_of(text_of(folder + "memory.stat"), version.cached);
      // The kernel drops cached files before it refuses memory.
      const size_t used = cached < usage ? usage - cached : usage;
      *total = std::min(*total, limit);
      *free = std::min(*free, used < limit ? limit - used : 0);
    }
    if (group.empty()) return;
    group.erase(group.rfind('/'));
  }
}

}  // namespace

HostMemory& HostMemory::instance() {
  // Never destroyed: used until the very end of the process.
  static HostMemory* memory = new HostMemory;
  return *memory;
}

void HostMemory::figures(size_t coming, size_t* free, size_t* total) {
  constexpr size_t kTrusted = (size_t)64 << 20;
  std::lock_guard<std::mutex> guard(lock_);
  const Clock::time_point now = Clock::now();
  if (coming >= left_ || now - read_at_ > std::chrono::seconds(1)) {
    mx_host_memory("", &free_, &total_);
    taken_ = 0;
    left_ = std::min(kTrusted, free_ / 64);
    read_at_ = now;
  }
  *free = free_ > taken_ ? free_ - taken_ : 0;
  *total = total_;
  taken_ += coming;
  left_ -= std::min(left_, coming);
}

void HostMemory::forget() {
  std::lock_guard<std::mutex> guard(lock_);
  left_ = 0;
}

}  // namespace mx

extern "C" void mx_host_memory(const char* root, size_t* free, size_t* total) {
  using namespace mx;
  const std::string base(root), figures = text_of(base + "/proc/meminfo");
  const size_t kilobytes = value_of(figures, "MemTotal:");
  const size_t available = value_of(figures, "MemAvailable:");
  *total = kilobytes == kUnknown ? kNoLimit : kilobytes * 1024;
  *free = available == kUnknown ? *total : available * 1024;
  const std::string groups = text_of(base + "/proc/self/cgroup");
  for (const Version& version : kVersions)
    obey_groups(base, version, group_of(groups, version.controller), free, total);
}
