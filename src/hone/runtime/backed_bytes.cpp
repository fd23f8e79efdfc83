#include "hone/runtime/backed_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::runtime {

Result<std::shared_ptr<const SourceFile>> SourceFile::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return error(ErrorCode::NotFound, "cannot open '{}': {}", file.string(), std::strerror(errno));
  const std::shared_ptr<SourceFile> opened(new SourceFile(descriptor, file.string()));
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0)
    return error(ErrorCode::InvalidArgument, "cannot read '{}': {}", file.string(), std::strerror(errno));
  opened->size_ = status.st_size;
  opened->changed_ = status.st_mtim;
  return std::shared_ptr<const SourceFile>(opened);
}

SourceFile::~SourceFile() { ::close(descriptor_); }

Result<void> SourceFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  const auto changed = [&] {
    return error(ErrorCode::InvalidArgument,
                 "'{}' was changed after it was loaded, but is needed again for inputs of a new shape", name_);
  };
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0 || status.st_size != size_ || status.st_mtim.tv_sec != changed_.tv_sec ||
      status.st_mtim.tv_nsec != changed_.tv_nsec)
    return changed();
  while (!into.empty()) {
    const ssize_t count = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return changed();
    offset += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::shared_ptr<BackedBytes>> BackedBytes::copy(std::span<const std::byte> content,
                                                       std::shared_ptr<const SourceFile> file, std::uint64_t offset) {
  HONE_TRY(AlignedBytes memory, AlignedBytes::allocate(content.size(), tensor_alignment(content.size())));
  std::copy(content.begin(), content.end(), memory.data());
  return std::shared_ptr<BackedBytes>(new BackedBytes(std::move(memory), std::move(file), offset));
}

void BackedBytes::give_back() {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  const std::uintptr_t begin = (address + page - 1) / page * page, end = (address + memory_.size()) / page * page;
  if (begin >= end || ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return;
  is_given_back_ = true;
}

Result<void> BackedBytes::restore() {
  if (!is_given_back_) return {};
  HONE_TRY(file_->read(offset_, {memory_.data(), memory_.size()}));
  is_given_back_ = false;
  return {};
}

}  // namespace hone::runtime
