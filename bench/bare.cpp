// The reference design in a bare Verilator loop, without VPI and Python: the limit that every harness is measured by.
//
//   bare <traffic> <out>     traffic: see bench/traffic.py. out: the bytes and tuser of the first segment's frames.
//
// Prints a line for each segment: cycles, CPU seconds.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "Vreference.h"
#include "verilated.h"

namespace {

struct Beat {
    uint32_t data[4];
    uint16_t keep;
    bool last;
};

double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename T>
std::vector<T> read(FILE* file, size_t count) {
    std::vector<T> values(count);
    if (fread(values.data(), sizeof(T), count, file) != count) {
        fprintf(stderr, "the traffic file is too short\n");
        exit(2);
    }
    return values;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bare <traffic> <out>\n");
        return 2;
    }
    FILE* traffic = fopen(argv[1], "rb");
    FILE* out = fopen(argv[2], "wb");
    if (!traffic || !out) {
        perror("bare");
        return 2;
    }

    VerilatedContext context;
    Vreference top(&context);
    top.rst = 1;
    top.s_axis_tvalid = 0;
    top.s_axis_tuser = 0;
    top.m_axis_tready = 1;
    for (int i = 0; i < 8; ++i) {
        top.clk = !top.clk;
        top.eval();
    }
    top.rst = 0;

    const int64_t segments = read<int64_t>(traffic, 1)[0];
    for (int64_t segment = 0; segment < segments; ++segment) {
        const int64_t frames = read<int64_t>(traffic, 1)[0];
        const std::vector<int64_t> offset = read<int64_t>(traffic, frames + 1);
        const std::vector<uint8_t> data = read<uint8_t>(traffic, offset[frames]);
        std::vector<Beat> beats;
        for (int64_t frame = 0; frame < frames; ++frame) {
            for (int64_t at = offset[frame]; at < offset[frame + 1]; at += 16) {
                Beat beat{};
                const int64_t left = offset[frame + 1] - at;
                const int64_t size = left < 16 ? left : 16;
                memcpy(beat.data, &data[at], size);
                beat.keep = (1u << size) - 1;
                beat.last = left <= 16;
                beats.push_back(beat);
            }
        }
        std::vector<Beat> came;
        std::vector<uint16_t> user;
        came.reserve(beats.size());
        const double start = cpu_seconds();
        int64_t cycles = 0, received = 0;
        size_t next = 0;
        while (received < frames) {
            // The values that stand now are those that the edge sees.
            const bool taken = top.s_axis_tvalid && top.s_axis_tready;
            if (top.m_axis_tvalid) {
                if (segment == 0) {
                    Beat beat;
                    memcpy(beat.data, &top.m_axis_tdata[0], 16);
                    beat.keep = top.m_axis_tkeep;
                    beat.last = top.m_axis_tlast;
                    came.push_back(beat);
                    if (beat.last) user.push_back(top.m_axis_tuser);
                }
                received += top.m_axis_tlast;
            }
            top.clk = 1;
            top.eval();
            if (taken) ++next;
            top.s_axis_tvalid = next < beats.size();
            if (next < beats.size()) {
                memcpy(&top.s_axis_tdata[0], beats[next].data, 16);
                top.s_axis_tkeep = beats[next].keep;
                top.s_axis_tlast = beats[next].last;
            }
            top.clk = 0;
            top.eval();
            ++cycles;
        }
        printf("%lld %.9f\n", static_cast<long long>(cycles), cpu_seconds() - start);
        for (const Beat& beat : came) fwrite(beat.data, 1, __builtin_popcount(beat.keep), out);
        fwrite(user.data(), sizeof(uint16_t), user.size(), out);
    }
    fclose(traffic);
    fclose(out);
    return 0;
}
