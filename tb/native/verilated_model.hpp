// Any verilated top as a Model, and the short names by which a binding file says which pins its streams are.
#pragma once

#include <memory>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "device.hpp"
#include "verilated.h"
#include "verilated_save.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#else
#include "verilated_vcd_c.h"
#endif

namespace nicloop {

#if VM_TRACE_FST
using WaveFile = VerilatedFstC;
#else
using WaveFile = VerilatedVcdC;
#endif

// Verilator's own format, in memory.
class MemorySave final : public VerilatedSerialize {
public:
    explicit MemorySave(std::string& out) : out_(out) { m_isOpen = true; }
    void flush() override {
        out_.append(reinterpret_cast<const char*>(m_bufp), static_cast<size_t>(m_cp - m_bufp));
        m_cp = m_bufp;
    }

private:
    std::string& out_;
};

class MemoryRestore final : public VerilatedDeserialize {
public:
    MemoryRestore(const char* data, size_t size) : at_(data), end_(data + size) {
        m_isOpen = true;
        m_endp = m_cp = m_bufp;
    }

private:
    // What is left moves to the buffer's start, more comes behind it.
    void fill() override {
        const size_t left = static_cast<size_t>(m_endp - m_cp);
        std::memmove(m_bufp, m_cp, left);
        const size_t more = std::min(bufferSize() - left, static_cast<size_t>(end_ - at_));
        std::memcpy(m_bufp + left, at_, more);
        at_ += more;
        m_cp = m_bufp;
        m_endp = m_bufp + left + more;
    }

    const char* at_;
    const char* end_;
};

// Aligned like Verilator's own objects, so that its memory is zeroed as theirs is (zeroed.cpp).
template <typename Top>
class alignas(VL_CACHE_LINE_BYTES) VerilatedModel final : public Model {
public:
    explicit VerilatedModel(int seed) {
        // Registers without a reset start random: a design that leans on zeros fails.
        context_.randReset(2);
        context_.randSeed(seed);
        context_.traceEverOn(true);
        top_ = std::make_unique<Top>(&context_);
    }
    ~VerilatedModel() override {
        waves_.reset();
        top_->final();
        // Verilator strikes a model's public scopes off the thread's context, which is that of the model made last.
        Verilated::threadContextp(&context_);
        top_.reset();
        Verilated::threadContextp(nullptr);
    }

    Top& top() { return *top_; }
    void eval() override { top_->eval(); }

    void save(std::string& out) override {
        MemorySave stream(out);
        stream << *top_;
        stream.flush();
    }

    void restore(const char* data, size_t size) override {
        MemoryRestore stream(data, size);
        stream >> *top_;
    }

    bool open_waves(const std::string& path) override {
        if (!std::ofstream(path)) return false;
        waves_ = std::make_unique<WaveFile>();
        top_->trace(waves_.get(), 99);
        waves_->open(path.c_str());
        return waves_->isOpen();
    }
    void dump(int64_t time_ps) override { waves_->dump(static_cast<uint64_t>(time_ps)); }
    void close_waves() override {
        waves_->close();
        waves_.reset();
    }

private:
    VerilatedContext context_;
    std::unique_ptr<Top> top_;
    std::unique_ptr<WaveFile> waves_;
};

}  // namespace nicloop

// The pins of an AXI4-Stream by its prefix; META: `(top).prefix_meta.data()` or nullptr.
#define NICLOOP_STREAM(top, prefix, META)                                                                              \
    {                                                                                                                  \
        (top).prefix##_tdata.data(), &(top).prefix##_tkeep, &(top).prefix##_tvalid, &(top).prefix##_tready,            \
            &(top).prefix##_tlast, &(top).prefix##_tuser, META                                                         \
    }

// The pins of a monitored path: prefix_entry_* and prefix_disp_*.
#define NICLOOP_PATH(top, prefix)                                                                                      \
    {                                                                                                                  \
        &(top).prefix##_entry_valid, &(top).prefix##_entry_seq, &(top).prefix##_disp_valid, &(top).prefix##_disp_seq,  \
            &(top).prefix##_disp_code, &(top).prefix##_disp_queue                                                      \
    }

// The pins of an AXI4-Lite slave.
#define NICLOOP_AXIL(top, prefix)                                                                                      \
    {                                                                                                                  \
        &(top).prefix##_awaddr, &(top).prefix##_awvalid, &(top).prefix##_awready, &(top).prefix##_wdata,               \
            &(top).prefix##_wstrb, &(top).prefix##_wvalid, &(top).prefix##_wready, &(top).prefix##_bresp,              \
            &(top).prefix##_bvalid, &(top).prefix##_bready, &(top).prefix##_araddr, &(top).prefix##_arvalid,           \
            &(top).prefix##_arready, &(top).prefix##_rdata, &(top).prefix##_rresp, &(top).prefix##_rvalid,             \
            &(top).prefix##_rready                                                                                     \
    }

// The pins of a device's time.
#define NICLOOP_TIME(top)                                                                                              \
    {                                                                                                                  \
        &(top).now, &(top).now_fraction, &(top).idle, &(top).next_deadline, &(top).time_advance, &(top).time_target,   \
            &(top).time_target_fraction                                                                                \
    }
