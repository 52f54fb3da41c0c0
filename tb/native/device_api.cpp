#include "device_api.hpp"

#include "device.hpp"

using nicloop::Device;
using nicloop::Harness;
using nicloop::fail;
using nicloop::whole;

namespace {

std::string the_state;

int32_t unbound() { return fail("no harness is bound to the device"); }

}  // namespace

Device* nicloop_device_create(int32_t seed) { return new Device(seed); }

void nicloop_device_destroy(Device* device) { delete device; }

int32_t nicloop_device_bind(Device* device, Harness* harness) {
    const std::string wrong = device->bind(harness);
    return wrong.empty() ? 0 : fail(wrong);
}

int32_t nicloop_device_run(Device* device, int64_t cycles, int64_t steps, uint32_t until) {
    if (device->harness() == nullptr) return unbound();
    return static_cast<int32_t>(device->run(cycles, steps, until));
}

int64_t nicloop_device_cycles(Device* device) { return device->cycles(); }

int64_t nicloop_device_clock(Device* device, int32_t clock, int32_t what) {
    if (clock < 0 || clock >= device->clocks()) return fail("the device has no clock " + std::to_string(clock));
    if (what == 0) return device->edges(clock);
    return device->harness() == nullptr ? unbound() : device->cycle_of(clock);
}

int32_t nicloop_device_set_period(Device* device, int32_t clock, int64_t fs) {
    if (clock < 0 || clock >= device->clocks() || device->clocks() == 1) return fail("the device has no such clock among several");
    device->set_period(clock, fs);
    return 0;
}

void nicloop_device_reset(Device* device, int32_t level) { device->set_reset(level != 0); }

void nicloop_device_now(Device* device, uint64_t* ns, uint32_t* fraction) {
    const Device::Time now = device->now();
    *ns = static_cast<uint64_t>(now >> 32);
    *fraction = static_cast<uint32_t>(now);
}

int32_t nicloop_device_ready(Device* device) { return device->ready(); }

int32_t nicloop_device_access(Device* device, int32_t write, uint32_t address, uint32_t data) {
    if (device->pins().axil.empty()) return fail("the device has no registers");
    if (device->axil().busy()) return fail("an access is under way");
    device->axil().begin(write != 0, address, data);
    return 0;
}

int32_t nicloop_device_access_state(Device* device) { return device->axil().state(); }

int32_t nicloop_device_answer(Device* device, uint32_t* data) {
    *data = device->axil().data();
    return device->axil().state();
}

int32_t nicloop_device_access_all(
    Device* device, int32_t count, const uint8_t* writes, const uint32_t* addresses, uint32_t* data) {
    constexpr int64_t LONG = 1 << 20;  // cycles in which an access has ended, whatever the device does
    if (device->harness() == nullptr) return unbound();
    const nicloop::Axil& axil = device->axil();
    for (int32_t i = 0; i < count; ++i) {
        if (nicloop_device_access(device, writes[i], addresses[i], data[i]) < 0) return -1;
        while (axil.busy()) device->run(LONG, LONG, 0);
        if (axil.state() != nicloop::Axil::OKAY) return i;
        if (!writes[i]) data[i] = axil.data();
    }
    return count;
}

void nicloop_device_set_skip(Device* device, int32_t on) { device->set_skip(on != 0); }

int64_t nicloop_device_skipped(Device* device) { return device->skipped(); }

int32_t nicloop_device_save(Device* device, const char** data, int64_t* size) {
    if (device->harness() == nullptr) return unbound();
    the_state.clear();
    const std::string wrong = device->save(the_state);
    *data = the_state.data();
    *size = static_cast<int64_t>(the_state.size());
    return wrong.empty() ? 0 : fail(wrong);
}

int32_t nicloop_device_restore(Device* device, const char* data, int64_t size) {
    if (device->harness() == nullptr) return unbound();
    const std::string wrong = device->restore(data, static_cast<size_t>(size));
    return wrong.empty() ? 0 : fail(wrong);
}

int32_t nicloop_device_waves(Device* device, const char* file, int32_t path, int64_t first, int64_t last) {
    const int paths = device->harness() == nullptr ? 0 : device->harness()->paths();
    if (path >= 0 && path >= paths) return fail("the harness has no path " + std::to_string(path));
    const bool open = path < 0 ? device->waves().open(device->model(), file)
                               : device->waves().arm(device->model(), file, device->harness()->path(path), first, last);
    return open ? 0 : fail(std::string(file) + ": can't be written");
}

void nicloop_device_end_waves(Device* device) { device->waves().close(device->model()); }

int32_t nicloop_device_begin_taps(Device* device, int64_t most) {
    if (!device->taps().connected()) return fail("the device has no taps");
    device->taps().begin(most);
    return 0;
}

void nicloop_device_end_taps(Device* device) { device->taps().end(); }

int32_t nicloop_device_tap_layout(Device* device, uint32_t* streams, uint32_t* exits) {
    if (!device->taps().connected()) return fail("the device has no taps");
    const nicloop::TapPins& pins = device->pins().taps.front();
    *streams = *pins.streams;
    *exits = *pins.exits;
    return 0;
}

const void* nicloop_device_taps(Device* device, int32_t column, int64_t* count) {
    const nicloop::TapLog& log = device->taps().log();
    switch (column) {
        case 0: return whole(log.stream, count);
        case 1: return whole(log.seq, count);
        case 2: return whole(log.offered, count);
        case 3: return whole(log.first, count);
        case 4: return whole(log.last, count);
        case 5: return whole(log.stalled, count);
        case 6: return whole(log.culprit, count);
        case 7: return whole(log.before, count);
        default: return whole(log.all, count);
    }
}
