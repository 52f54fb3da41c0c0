#include "axil.hpp"

namespace nicloop {

void Axil::connect(const AxilPins* pins) {
    pins_ = pins;
    *pins_->wstrb = 0xF;
    put_all();
}

void Axil::begin(bool write, uint32_t address, uint32_t data) {
    write_ = write;
    address_ = address;
    write_data_ = data;
    aw_ = w_ = write;
    ar_ = !write;
    answering_ = false;
    waited_ = 0;
    state_ = BUSY;
    changed_ = true;
}

// Lowers each valid after its handshake; true once all are through.
bool Axil::shake() {
    if (aw_ && *pins_->awready) aw_ = false, changed_ = true;
    if (w_ && *pins_->wready) w_ = false, changed_ = true;
    if (ar_ && *pins_->arready) ar_ = false, changed_ = true;
    return !aw_ && !w_ && !ar_;
}

void Axil::step() {
    if (++waited_ > PATIENCE) return end(STUCK);
    if (!answering_) {
        if (!shake()) return;
        answering_ = true;
        waited_ = 0;
        (write_ ? b_ : r_) = true;
        changed_ = true;
        return;
    }
    if (!*(write_ ? pins_->bvalid : pins_->rvalid)) return;
    const bool okay = *(write_ ? pins_->bresp : pins_->rresp) == 0;
    data_ = !write_ && okay ? *pins_->rdata : 0;
    end(okay ? OKAY : ERROR);
}

void Axil::end(State state) {
    state_ = state;
    aw_ = w_ = b_ = ar_ = r_ = false;
    changed_ = true;
}

void Axil::put_all() {
    changed_ = false;
    *pins_->awaddr = *pins_->araddr = address_;
    *pins_->wdata = write_data_;
    *pins_->awvalid = aw_;
    *pins_->wvalid = w_;
    *pins_->bready = b_;
    *pins_->arvalid = ar_;
    *pins_->rready = r_;
}

}  // namespace nicloop
