// hone_worker: the process in which the measurer compiles and times programs. Started by hone, not by hand.
#include "hone/measure/worker.h"

int main() { return hone::measure::run_worker(); }
