#include "hone/runtime/parallel.h"

#include "hone/runtime/thread_pool.h"

void hone_parallel_for(void* pool, std::int64_t count, hone_parallel_body body, void* context) {
  if (pool) {
    static_cast<hone::runtime::ThreadPool*>(pool)->parallel_for(count, body, context);
  } else if (count > 0) {
    body(context, 0, count);
  }
}
