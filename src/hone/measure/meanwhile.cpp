#include "hone/measure/meanwhile.h"

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "hone/support/error.h"

namespace hone::measure {

Meanwhile::Meanwhile() : done_(::eventfd(0, EFD_CLOEXEC)) {
  HONE_CHECK(done_, "no event descriptor: too many files are open");
}

void Meanwhile::add(Work work) {
  HONE_CHECK(!work_, "one piece of work at a time");
  work_ = std::move(work);
}

void Meanwhile::begin() {
  thread_ = std::jthread([this] {
    try {
      work_->work();
    } catch (...) {  // thrown again where the end is taken
      thrown_ = std::current_exception();
    }
    const std::uint64_t one = 1;
    (void)!::write(done_.number(), &one, sizeof one);
  });
}

void Meanwhile::join() {
  if (!thread_.joinable()) return;
  thread_.join();
  std::uint64_t count = 0;
  (void)!::read(done_.number(), &count, sizeof count);
}

std::function<void()> Meanwhile::take() {
  join();
  const Work work = *std::exchange(work_, std::nullopt);
  if (const std::exception_ptr thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  return work.then;
}

void Meanwhile::drop() {
  join();
  work_.reset();
  thrown_ = nullptr;
}

}  // namespace hone::measure
