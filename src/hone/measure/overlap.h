/// What may run at the same time: the one place that keeps compiling from disturbing what is being timed.
#pragma once

namespace hone::measure {

/// Counts cores. A trial is prepared (compiled, arguments made) on one core and then timed on as many as the kernel has
/// threads; at most one trial is timed at a time, and whatever else runs gets the cores that leaves. So on two cores
/// one trial is prepared while another of one thread is timed, and a kernel of two threads is timed alone.
///
/// Kernels of few threads are timed as soon as they are prepared, and once a trial can be timed nothing is started that
/// would keep it waiting. Kernels that take more than half of the cores are timed in bursts: first all cores prepare
/// until some trials wait, then those are timed one after the other. Else cores would stand idle before each timing,
/// until the last of them is done preparing. Where there is but one core, nothing waits for a burst: none stands idle.
class Overlap {
 public:
  static constexpr int kBurst = 8;  ///< trials that a burst has for each core, and that a worker keeps for it

  /// `cores` of the machine that workers may use, `threads` of the kernels that are timed.
  Overlap(int cores, int threads);

  /// Whether a trial may be prepared, or other work may begin that takes so many cores.
  bool may_prepare(int cores = 1) const;
  bool may_time() const;
  /// How many trials a worker may have prepared that wait to be timed.
  int most_waiting_per_worker() const;

  void begin_preparing() { ++preparing_; }
  void end_preparing() { --preparing_; }
  void begin_waiting() { ++waiting_; }  ///< a trial is prepared, and wants to be timed
  void end_waiting() { --waiting_; }    ///< it is timed now, or given up
  void begin_timing() { is_timing_ = true; }
  void end_timing() { is_timing_ = false; }

  /// Work of other kinds that goes on beside the trials, on so many cores.
  void begin_other(int cores) { other_ = cores; }
  void end_other() { other_ = 0; }

  /// To be called before asking what may begin. `ready`: workers with a trial that waits and nothing else to do;
  /// `can_prepare_more`: if not, what waits is timed, be it little.
  void look(int ready, bool can_prepare_more);

 private:
  bool is_in_bursts() const { return cores_ > 1 && 2 * threads_ > cores_; }
  int busy() const { return preparing_ + other_; }

  int cores_, threads_;
  int preparing_ = 0, waiting_ = 0, ready_ = 0, other_ = 0;
  bool is_timing_ = false, is_burst_ = false;
};

}  // namespace hone::measure
