// Entry of a verilated model that is loaded into Python (tb/host.py). `simulator_main` is the main() of cocotb's
// verilator.cpp, renamed by tb/build.py.

#include <cstdio>
#include <unistd.h>

int simulator_main(int argc, char **argv);

extern "C" void nicloop_simulate(int argc, char **argv) {
    const int code = simulator_main(argc, argv);
    std::fflush(nullptr);
    _exit(code);  // not exit(): the interpreter is gone, nothing of it may run again
}
