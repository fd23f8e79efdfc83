#include "hone/cost/xgboost_library.h"

#include <dlfcn.h>

namespace hone::cost {

namespace {

constexpr const char* kFiles[] = {"libxgboost.so.0", "libxgboost.so"};  // Debian's, then that of other builds

Result<XgboostLibrary> load() {
  void* handle = nullptr;
  for (const char* name : kFiles)
    if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return error(ErrorCode::Unsupported,
                 "learned cost models need XGBoost, whose library cannot be loaded ({}); install libxgboost0, or use "
                 "the cost model 'none' or 'random'",
                 dlerror());
  XgboostLibrary library;
#define HONE_FIND(name)                                                                                      \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name));                             \
  if (!library.name)                                                                                         \
    return error(ErrorCode::Unsupported, "XGBoost's library has no function '" #name "', which versions 1.6 to 2 have");
  HONE_XGBOOST_FUNCTIONS(HONE_FIND)
#undef HONE_FIND
  HONE_TRY(library.check(library.XGBSetGlobalConfig(R"({"verbosity": 0})"), "quiet"));
  return library;
}

}  // namespace

Result<void> XgboostLibrary::check(int code, const char* what) const {
  if (code == 0) return {};
  const std::string_view text = XGBGetLastError();
  return error(ErrorCode::InvalidArgument, "XGBoost: {}: {}", what, text.substr(0, text.find('\n')));
}

Result<const XgboostLibrary*> xgboost() {
  static const Result<XgboostLibrary> library = load();
  if (!library) return library.error();
  return &*library;
}

}  // namespace hone::cost
