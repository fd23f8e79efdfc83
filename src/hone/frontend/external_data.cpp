#include "hone/frontend/external_data.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::frontend {
namespace {

namespace fs = std::filesystem;

/// Closes a file descriptor.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

/// Whether `path` is `folder` or below it; both are canonical.
bool is_inside(const fs::path& path, const fs::path& folder) {
  auto part = path.begin();
  for (const fs::path& expected : folder) {
    if (expected.empty()) continue;  // a folder that ends with a slash
    if (part == path.end() || *part != expected) return false;
    ++part;
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const fs::path& file) {
  const Descriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (opened.number < 0)
    return error(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::InvalidArgument, "cannot open '{}': {}",
                 file.string(), std::strerror(errno));
  struct stat status = {};
  if (::fstat(opened.number, &status) != 0)
    return error(ErrorCode::InvalidArgument, "cannot read '{}': {}", file.string(), std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    return error(ErrorCode::InvalidArgument, "'{}' is a directory, not a file", file.string());
  if (!S_ISREG(status.st_mode)) return error(ErrorCode::InvalidArgument, "'{}' is not a regular file", file.string());
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.number, 0);
    if (data == MAP_FAILED)
      return error(ErrorCode::OutOfMemory, "cannot map the {} bytes of '{}': {}", size, file.string(),
                   std::strerror(errno));
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void FilePart::forget() const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(const std::string& location) {
  if (const auto found = opened_.find(location); found != opened_.end()) return found->second;
  if (folder_.empty())
    return error(ErrorCode::InvalidArgument,
                 "external data '{}' cannot be found: the model was read from memory, without a folder", location);
  const fs::path path = location;
  if (location.empty() || location.find('\0') != std::string::npos || path.is_absolute())
    return error(ErrorCode::InvalidArgument, "external data '{}' is not a path from the model's folder", location);
  for (const fs::path& part : path)
    if (part == "..")
      return error(ErrorCode::InvalidArgument, "external data '{}' is outside the model's folder", location);
  std::error_code failure;
  const fs::path folder = fs::canonical(folder_, failure);
  if (failure) return error(ErrorCode::NotFound, "no folder '{}': {}", folder_.string(), failure.message());
  const fs::path target = fs::canonical(folder / path, failure);
  if (failure)
    return error(ErrorCode::NotFound, "external data '{}' cannot be opened: {}", location, failure.message());
  if (!is_inside(target, folder))
    return error(ErrorCode::InvalidArgument, "external data '{}' is a link that leads outside the model's folder",
                 location);
  HONE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(target));
  return opened_.emplace(location, std::move(file)).first->second;
}

Result<FilePart> ExternalFiles::read(const std::string& location, std::uint64_t offset,
                                     std::optional<std::uint64_t> length) {
  HONE_TRY(const std::shared_ptr<const MappedFile> file, open(location));
  const std::uint64_t size = file->bytes().size();
  if (offset > size || (length && *length > size - offset))
    return error(ErrorCode::InvalidArgument, "external data '{}' has {} bytes, but {} bytes at {} are asked for",
                 location, size, length.value_or(0), offset);
  return FilePart{file->bytes().subspan(offset, length.value_or(size - offset)), file};
}

}  // namespace hone::frontend
