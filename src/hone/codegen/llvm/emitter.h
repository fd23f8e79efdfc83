/// Writes lowered loop IR as LLVM IR. Only the sources of this folder include it.
///
/// ModuleEmitter holds what the functions of a module share. FunctionEmitter writes one LLVM function: the entry point
/// of an ir::Function, or the outlined body of one of its parallel loops. Expressions are straight-line code: both
/// sides of a Select are computed (masked loads and guarded divisors make that safe), so values can be reused within a
/// statement.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/codegen/target.h"
#include "hone/codegen/vector_math.h"
#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Metadata that tells LLVM which accesses cannot overlap: each buffer is its own alias scope.
struct AliasInfo {
  llvm::MDNode* own = nullptr;
  llvm::MDNode* others = nullptr;
};

/// How a buffer is reached inside one LLVM function.
struct BufferSlot {
  llvm::Value* pointer = nullptr;
  std::uint64_t align = 1;  ///< bytes the first element is aligned at
};

/// State shared by the functions of one module.
class ModuleEmitter {
 public:
  ModuleEmitter(llvm::Module& out, const Target& for_target, const CompileOptions& with_options);

  Result<void> emit(const ir::Module& lowered);

  /// An LLVM function with this module's attributes.
  llvm::Function* declare(llvm::FunctionType* type, const std::string& name, llvm::GlobalValue::LinkageTypes linkage);
  /// kZeroBytes zeros to load from in place of memory that must not be touched.
  llvm::Constant* zeros();
  static constexpr int kZeroBytes = 1024;
  llvm::FunctionCallee parallel_for();
  llvm::FunctionCallee allocate();
  llvm::FunctionCallee release();
  /// The C library's function of this name on scalars of one type.
  llvm::FunctionCallee libm(const std::string& name, llvm::Type* type, unsigned arguments);

  const AliasInfo& alias(const ir::Expr& buffer) const { return aliases_.at(buffer.id()); }

  llvm::Module& module;
  llvm::LLVMContext& context;
  const Target& target;
  const CompileOptions& options;
  /// Instructions the target has, asked often.
  const bool has_f16c, has_vnni, has_dot_bf16, has_avx512;

 private:
  void emit(const ir::Function& function);
  void collect_aliases(const ir::Function& function);

  std::unordered_map<const void*, AliasInfo> aliases_;
  std::set<std::string> called_;  ///< functions of the C library
};

/// Writes the statements and expressions of one LLVM function.
struct SteppedIndex;

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleEmitter& shared, llvm::Function* into);

  void define(const ir::Expr& var, llvm::Value* value) { vars_[var.id()] = value; }
  void define(const ir::Expr& buffer, BufferSlot slot) { buffers_[buffer.id()] = slot; }

  llvm::IRBuilder<>& builder() { return b_; }
  /// A word that is set to 1 when a scratch allocation fails.
  void set_status(llvm::Value* pointer) { status_ = pointer; }
  void set_pool(llvm::Value* pool) { pool_ = pool; }

  // Statements (emit_stmt.cpp)
  void emit(const ir::Stmt& s);
  /// A loop from `begin` to `end` around what `body` emits for each value of `var`.
  void emit_loop(const ir::Expr& var, llvm::Value* begin, llvm::Value* end, const ir::Stmt& body);

  // Expressions (emit_expr.cpp)
  llvm::Value* value(const ir::Expr& e);
  /// As value(), for subscripts and extents: such arithmetic never overflows.
  llvm::Value* index(const ir::Expr& e);

 private:
  // emit_stmt.cpp
  void emit_for(const ir::For& node);
  void emit_parallel(const ir::For& node);
  void emit_if(const ir::If& node);
  void emit_allocate(const ir::Allocate& node);
  void emit_stack_allocate(const ir::Allocate& node, std::int64_t count);
  void emit_heap_allocate(const ir::Allocate& node, std::int64_t count);
  void emit_evaluate(const ir::Evaluate& node);
  void enter(llvm::BasicBlock* block);
  llvm::BasicBlock* block(const char* name);

  // emit_expr.cpp
  llvm::Value* compute(const ir::Expr& e);
  llvm::Value* arithmetic(ir::Kind kind, ir::DType type, const ir::Expr& a, const ir::Expr& b);
  llvm::Value* float_arithmetic(ir::Kind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* int_arithmetic(ir::Kind kind, ir::DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* floor_divide(ir::Kind kind, ir::DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* comparison(ir::Kind kind, const ir::Expr& a, const ir::Expr& b);
  llvm::Value* lanes_below(const ir::Expr& ramp, const ir::Expr& limit, bool inclusive);
  llvm::Value* constant(ir::DType type, double number, std::int64_t whole);
  llvm::Value* ramp(const ir::Ramp& node, int lanes);
  /// A Select that asks whether any lane needs the first side: only the side that is needed runs.
  llvm::Value* branch(const ir::Select& node);
  llvm::Value* select(llvm::Value* condition, llvm::Value* a, llvm::Value* b);
  /// Division that never traps: a divisor of 0 counts as 1, the smallest integer by -1 wraps.
  llvm::Value* safe_divide(bool remainder, ir::DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_min_max(ir::Kind kind, llvm::Value* a, llvm::Value* b);

  // emit_memory.cpp
  llvm::Value* load(const ir::Load& node, ir::DType type);
  void store(const ir::Store& node);
  void store_unmasked(const ir::Store& node, llvm::Value* value);
  llvm::Value* element_pointer(const ir::Expr& buffer, llvm::Value* at, bool in_bounds);
  llvm::Value* load_at(llvm::Value* pointer, const ir::Expr& buffer, ir::DType type, std::uint64_t align);
  llvm::Value* load_scalar(const ir::Load& node, const ir::Expr& at, llvm::Value* mask);
  llvm::Value* load_contiguous(const ir::Load& node, const ir::Expr& first, ir::DType type, llvm::Value* mask);
  /// Into that cache and those outside of it: 1 is the L1.
  void prefetch(const ir::Load& node, unsigned innermost_cache);
  std::uint64_t access_align(const ir::Expr& buffer, const ir::Expr& first) const;
  llvm::Value* from_memory(llvm::Value* stored, ir::DType type);
  llvm::Value* to_memory(llvm::Value* value, ir::DType type);
  /// Null if all lanes are on; a scalar if all lanes agree.
  llvm::Value* mask_value(const ir::Expr& mask);
  void mark(llvm::Value* access, const ir::Expr& buffer);
  llvm::Value* reverse(llvm::Value* vector);
  /// One load and a shuffle; null if the lanes are too far apart for one vector. `mask` is one bit or null.
  llvm::Value* load_stepped(const ir::Load& node, const SteppedIndex& at, ir::DType type, llvm::Value* mask);

  // emit_convert.cpp
  llvm::Value* convert(llvm::Value* value, ir::DType from, ir::DType to);
  llvm::Value* half_to_f32(llvm::Value* bits, ir::DType from);
  llvm::Value* f32_to_half(llvm::Value* value, ir::DType to);
  llvm::Value* f64_to_f32_odd(llvm::Value* value);
  llvm::Value* float_to_int(llvm::Value* value, ir::DType to);

  // emit_call.cpp
  llvm::Value* call(const ir::Call& node, ir::DType type);
  llvm::Value* integer_power(ir::DType type, llvm::Value* base, llvm::Value* exponent);
  llvm::Value* half_fma(ir::DType type, const std::vector<llvm::Value*>& args);
  llvm::Value* simple_call(ir::Intrinsic function, ir::DType type, const std::vector<llvm::Value*>& args);
  /// What the target has instructions for on this type, and a call of one.
  MathUnits math_units(ir::DType type) const;
  llvm::Value* avx512_call(ir::Intrinsic function, const std::vector<llvm::Value*>& args);
  llvm::Value* expanded_call(const ir::Call& node, ir::DType type, const std::vector<llvm::Value*>& args);
  static std::vector<ir::Expr> names_for(ir::DType type, std::size_t count);
  /// The value of an expression of `names`, which stand for `args`.
  llvm::Value* expanded(const ir::Expr& expansion, const std::vector<ir::Expr>& names,
                        const std::vector<llvm::Value*>& args);
  /// A product with a sigmoid as a factor, as in x sigmoid(x), in one; null if it is none, or that saves nothing.
  llvm::Value* weighted_sigmoid(const ir::Mul& product, ir::DType type);
  llvm::Value* libm_call(ir::Intrinsic function, ir::DType type, const std::vector<llvm::Value*>& args);
  llvm::Value* reduce(ir::Intrinsic function, ir::DType type, llvm::Value* vector);
  llvm::Value* dot4(const ir::Call& node);
  llvm::Value* dot2(const ir::Call& node);
  llvm::Value* vnni_dot4(llvm::Value* sum, llvm::Value* a, llvm::Value* b);
  llvm::Value* every_nth(llvm::Value* vector, int step, int first);

  // Types
  llvm::Type* type(ir::DType t);
  llvm::Type* memory_type(ir::DType t);
  llvm::Value* splat(llvm::Value* scalar, int lanes);
  llvm::Constant* integer(llvm::Type* t, std::int64_t number);

  /// Holds on to the expressions, so that no other one takes the address of a key.
  struct Known {
    ir::Expr expression;
    llvm::Value* value;
  };
  using Values = std::unordered_map<const void*, Known>;

  ModuleEmitter& m_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  std::unordered_map<const void*, llvm::Value*> vars_;
  std::unordered_map<const void*, BufferSlot> buffers_;
  /// Values of expressions of the current statement; subscripts apart, because they carry no-overflow facts.
  Values data_values_, index_values_;
  bool in_index_ = false;
  bool in_parallel_ = false;
  llvm::Value* status_ = nullptr;
  llvm::Value* pool_ = nullptr;
};

/// The base and stride of a vector index that rises evenly, however it is written; null if it does not.
struct EvenIndex {
  ir::Expr base, stride;
};
std::optional<EvenIndex> as_even_index(const ir::Expr& index);

/// A vector index of steps: `every` lanes at one place, then as many `step` further; a step of 0 if all are at one.
struct SteppedIndex {
  ir::Expr first;
  std::int64_t every, step;
};
std::optional<SteppedIndex> as_stepped_index(const ir::Expr& index);

/// The largest power of two (up to 4096) known to divide an index.
std::int64_t known_factor(const ir::Expr& index);

}  // namespace hone::codegen
