/// XGBoost's C functions, taken from its shared library when the first model needs them.
///
/// Programs do not link the library: most of them never train a model, and all of them would load it at their start.
#pragma once

#include <xgboost/c_api.h>

#include "hone/support/result.h"

namespace hone::cost {

/// The functions in use; the library's own header says what each does.
#define HONE_XGBOOST_FUNCTIONS(X)                                                                                \
  X(XGBGetLastError) X(XGBSetGlobalConfig) X(XGDMatrixCreateFromMat) X(XGDMatrixFree)                            \
  X(XGBoosterCreate) X(XGBoosterFree) X(XGBoosterSetParam) X(XGBoosterBoostOneIter) X(XGBoosterSlice)            \
  X(XGBoosterBoostedRounds) X(XGBoosterGetNumFeature) X(XGBoosterPredictFromDMatrix) X(XGBoosterPredictFromDense) \
  X(XGBoosterSaveModelToBuffer) X(XGBoosterLoadModelFromBuffer)

struct XgboostLibrary {
#define HONE_DECLARE(name) decltype(&::name) name = nullptr;
  HONE_XGBOOST_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE

  /// An error with the library's own words if the code it returned is not 0.
  Result<void> check(int code, const char* what) const;
};

/// Loads the library at the first call; the error says what to install.
Result<const XgboostLibrary*> xgboost();

}  // namespace hone::cost
