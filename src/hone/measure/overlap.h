/// What may run at the same time: the one place that keeps compiling from disturbing what is being timed.
#pragma once

namespace hone::measure {

/// Counts cores. A trial is prepared (compiled, arguments made) on one core and then timed on as many as the kernel has
/// threads; at most one trial is timed at a time, and whatever else runs gets the cores that leaves. So on two cores
/// one trial is prepared while another of one thread is timed, and a kernel of two threads is timed alone. Once a trial
/// is waiting to be timed, nothing is started that would keep it waiting.
class Overlap {
 public:
  /// `cores` of the machine that workers may use, `threads` of the kernels that are timed.
  Overlap(int cores, int threads);

  bool may_prepare() const;
  bool may_time() const;

  void begin_preparing() { ++preparing_; }
  void end_preparing() { --preparing_; }
  void begin_waiting() { ++waiting_; }  ///< a trial is prepared, and wants to be timed
  void end_waiting() { --waiting_; }
  void begin_timing() { is_timing_ = true; }
  void end_timing() { is_timing_ = false; }

 private:
  int cores_, threads_;
  int preparing_ = 0, waiting_ = 0;
  bool is_timing_ = false;
};

}  // namespace hone::measure
