// A device behind the C ABI of c_api.hpp, in the same shared library.
#pragma once

#include "c_api.hpp"

namespace nicloop {
class Device;
}

// Null: it can't be made, see nicloop_last_error().
NICLOOP_API nicloop::Device* nicloop_device_create(int32_t seed);
NICLOOP_API void nicloop_device_destroy(nicloop::Device* device);
NICLOOP_API int32_t nicloop_device_bind(nicloop::Device* device, nicloop::Harness* harness);

// device.hpp, Device::run; `until` and the result: bit 0 done, 1 an access ended, 2 ready. -1: no harness is bound.
NICLOOP_API int32_t nicloop_device_run(nicloop::Device* device, int64_t cycles, int64_t steps, uint32_t until);
NICLOOP_API int64_t nicloop_device_cycles(nicloop::Device* device);
// Of a clock: rising edges since the device was made (what 0), number of its next one counted from its reset (what 1).
NICLOOP_API int64_t nicloop_device_clock(nicloop::Device* device, int32_t clock, int32_t what);
// The period of one of several clocks; -1: there is none.
NICLOOP_API int32_t nicloop_device_set_period(nicloop::Device* device, int32_t clock, int64_t fs);
NICLOOP_API void nicloop_device_reset(nicloop::Device* device, int32_t level);

// The device's time in the cycle that ends with the next edge.
NICLOOP_API void nicloop_device_now(nicloop::Device* device, uint64_t* ns, uint32_t* fraction);
NICLOOP_API int32_t nicloop_device_ready(nicloop::Device* device);

// Begins a register access, -1: one is under way. Its state: 0 none yet, 1 under way, 2 okay, 3 error, 4 no answer.
NICLOOP_API int32_t nicloop_device_access(nicloop::Device* device, int32_t write, uint32_t address, uint32_t data);
NICLOOP_API int32_t nicloop_device_access_state(nicloop::Device* device);
NICLOOP_API int32_t nicloop_device_answer(nicloop::Device* device, uint32_t* data);
// Accesses one right after the other while the device runs, up to the first that isn't answered okay: how many were, the
// state of that access stands. writes: 1 for a write of `data`, 0 for a read into it. -1: as of an access.
NICLOOP_API int32_t nicloop_device_access_all(
    nicloop::Device* device, int32_t count, const uint8_t* writes, const uint32_t* addresses, uint32_t* data);

// Device::set_skip; cycles that were skipped.
NICLOOP_API void nicloop_device_set_skip(nicloop::Device* device, int32_t on);
NICLOOP_API int64_t nicloop_device_skipped(nicloop::Device* device);

// The state of device and harness; `data` stays until the next save. -1: there can be none now.
NICLOOP_API int32_t nicloop_device_save(nicloop::Device* device, const char** data, int64_t* size);
NICLOOP_API int32_t nicloop_device_restore(nicloop::Device* device, const char* data, int64_t size);

// Waves from now on; or (path >= 0) of the frames `first` to `last` of a path. -1: the file can't be written.
NICLOOP_API int32_t nicloop_device_waves(nicloop::Device* device, const char* file, int32_t path, int64_t first, int64_t last);
NICLOOP_API void nicloop_device_end_waves(nicloop::Device* device);

// Taps::begin; -1: the device has no taps. Taps::end; what was noted stays until the next begin.
NICLOOP_API int32_t nicloop_device_begin_taps(nicloop::Device* device, int64_t most);
NICLOOP_API void nicloop_device_end_taps(nicloop::Device* device);
// Of the taps: how many streams, and a bit for each that leaves the device. -1: the device has no taps.
NICLOOP_API int32_t nicloop_device_tap_layout(nicloop::Device* device, uint32_t* streams, uint32_t* exits);
// A column of a TapLog: 0 stream, 1 seq (int32), 2 offered, 3 first, 4 last (int64) of each passage; of stalls 5 passage
// (int64), 6 culprit, 7 before, 8 all (int32). `count`: elements.
NICLOOP_API const void* nicloop_device_taps(nicloop::Device* device, int32_t column, int64_t* count);
