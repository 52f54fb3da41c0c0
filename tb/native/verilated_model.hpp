// Any verilated top as a Model, and the short names by which a binding file says which pins its streams are.
#pragma once

#include <memory>

#include "device.hpp"
#include "verilated.h"

namespace nicloop {

template <typename Top>
class VerilatedModel final : public Model {
public:
    explicit VerilatedModel(int seed) {
        // Registers without a reset start random: a design that leans on zeros fails.
        context_.randReset(2);
        context_.randSeed(seed);
        top_ = std::make_unique<Top>(&context_);
    }
    ~VerilatedModel() override { top_->final(); }

    Top& top() { return *top_; }
    void eval() override { top_->eval(); }

private:
    VerilatedContext context_;
    std::unique_ptr<Top> top_;
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
