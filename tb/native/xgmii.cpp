#include "xgmii.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace nicloop {

namespace xgmii {

namespace {

std::array<uint32_t, 256> crc_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t octet = 0; octet < table.size(); ++octet) {
        uint32_t rest = octet;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xEDB88320u : 0);
        table[octet] = rest;
    }
    return table;
}

}  // namespace

uint32_t fcs(const uint8_t* data, size_t size) {
    static const std::array<uint32_t, 256> table = crc_table();
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; ++i) crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xFF];
    return ~crc;
}

namespace {

void set(Word& word, int lane, uint8_t octet, bool control) {
    word.d = (word.d & ~(uint64_t{0xFF} << 8 * lane)) | static_cast<uint64_t>(octet) << 8 * lane;
    word.c = static_cast<uint8_t>((word.c & ~(1 << lane)) | control << lane);
}

}  // namespace

}  // namespace xgmii

using namespace xgmii;

// --------------------------------------------------------------------------------------------------------- Encoder

// The lane of the next word in which a frame that waits may start, -1: in none. Lane 0 is at a whole number of columns behind
// the place that is due, or `over` characters off: so many idles too few, where the deficit allows it, else 4 - over more.
int XgmiiEncoder::start_lane() const {
    const int64_t over = -gap_ & 3;
    const int64_t least = deficit_ + over <= MOST_DEFICIT ? GAP - over : GAP + (-over & 3);
    if (gap_ >= least) return 0;
    return gap_ + 4 == least ? 4 : -1;
}

void XgmiiEncoder::begin(Source& source, int64_t cycle, int lane) {
    const Source::Whole frame = source.begin(cycle);
    const uint32_t check = fcs(frame.data, static_cast<size_t>(frame.length)) ^ (frame.user & 1 ? ~0u : 0);
    chars_.assign({START, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xD5});
    chars_.insert(chars_.end(), frame.data, frame.data + frame.length);
    for (int i = 0; i < FCS; ++i) chars_.push_back(static_cast<uint8_t>(check >> 8 * i));
    at_ = 0;
    deficit_ = std::max<int64_t>(0, deficit_ + GAP - (gap_ + lane));
}

void XgmiiEncoder::put(Source& source, int64_t cycle, int lane) {
    if (at_ > 0 && at_ + 8 <= chars_.size()) {
        word_.c = 0;
        std::memcpy(&word_.d, chars_.data() + at_, 8);
        at_ += 8;
        return;
    }
    for (; lane < 8 && at_ < chars_.size(); ++lane) {
        set(word_, lane, chars_[at_], at_ == 0);
        ++at_;
    }
    // Terminate stands behind the last character, which may have been the last of a word.
    if (lane == 8) return;
    set(word_, lane, TERMINATE, true);
    gap_ = 8 - lane;
    chars_.clear();
    source.end(cycle);
}

void XgmiiEncoder::step(Source& source, int64_t cycle) {
    word_ = Word{};
    if (!chars_.empty()) return put(source, cycle, 0);
    const int lane = source.due(cycle) ? start_lane() : -1;
    if (lane < 0) {
        gap_ = std::min(gap_ + 8, LONG_GAP);
        return;
    }
    begin(source, cycle, lane);
    put(source, cycle, lane);
}

void XgmiiEncoder::reset() {
    word_ = Word{};
    chars_.clear();
    gap_ = LONG_GAP;
    deficit_ = 0;
}

// --------------------------------------------------------------------------------------------------------- Decoder

void XgmiiDecoder::begin(Sink& sink, int lane, int64_t cycle) {
    if (lane % 4 != 0) sink.complain(cycle, "start in lane " + std::to_string(lane));
    if (gap_ < GAP - MOST_DEFICIT) sink.complain(cycle, "start behind a gap of " + std::to_string(gap_) + " characters");
    in_frame_ = begun_ = true;
    odd_ = false;
    first_ = cycle;
    chars_.clear();
}

void XgmiiDecoder::end(Sink& sink, uint8_t octet, int64_t cycle) {
    in_frame_ = false;
    gap_ = 1;
    const std::string frame = "frame " + std::to_string(sink.frames()) + ": ";
    bool good = octet == TERMINATE;
    if (!good) sink.complain(cycle, frame + "control character " + std::to_string(octet) + " in it");
    const auto size = static_cast<int64_t>(chars_.size()) - (PREAMBLE - 1);
    if (size < FCS) {
        sink.complain(cycle, frame + "it ends after " + std::to_string(chars_.size()) + " characters");
        return;
    }
    for (int i = 0; i < PREAMBLE - 1; ++i) {
        if (chars_[static_cast<size_t>(i)] == (i == PREAMBLE - 2 ? 0xD5 : 0x55)) continue;
        sink.complain(cycle, frame + "character " + std::to_string(i + 1) + " of its preamble is wrong");
        good = false;
        break;
    }
    if (size < MIN_FRAME) sink.complain(cycle, frame + "it has " + std::to_string(size) + " bytes with FCS");
    const uint8_t* data = chars_.data() + PREAMBLE - 1;
    const auto length = static_cast<size_t>(size - FCS);
    uint32_t check = 0;
    for (size_t i = 0; i < FCS; ++i) check |= static_cast<uint32_t>(data[length + i]) << 8 * i;
    if (octet == TERMINATE && check != fcs(data, length)) {
        sink.complain(cycle, frame + "its FCS is wrong");
        good = false;
    }
    sink.whole(data, length, good ? 0 : 1, tag_.seq, tag_.direction, tagged_, first_, cycle);
}

void XgmiiDecoder::character(Sink& sink, int lane, uint8_t octet, bool control, int64_t cycle) {
    if (in_frame_) {
        if (control) {
            end(sink, octet, cycle);
        } else {
            chars_.push_back(octet);
        }
        return;
    }
    if (control && octet == START) return begin(sink, lane, cycle);
    gap_ = std::min(gap_ + 1, LONG_GAP);
    if (control && octet == IDLE) {
        odd_ = false;
    } else if (!odd_) {
        // Once: what follows the wrong end of a frame may be the rest of it.
        odd_ = true;
        const char* kind = control ? "control character " : "byte ";
        sink.complain(cycle, kind + std::to_string(octet) + " between frames, in lane " + std::to_string(lane));
    }
}

void XgmiiDecoder::step(Sink& sink, const Word& word, const XgmiiTag& tag, int64_t cycle) {
    begun_ = false;
    if (word.c == IDLE_C && word.d == IDLE_D && !in_frame_) {
        gap_ = std::min(gap_ + 8, LONG_GAP);
        odd_ = false;
    } else if (word.c == 0 && in_frame_) {
        for (int lane = 0; lane < 8; ++lane) chars_.push_back(static_cast<uint8_t>(word.d >> 8 * lane));
    } else {
        for (int lane = 0; lane < 8; ++lane) {
            character(sink, lane, static_cast<uint8_t>(word.d >> 8 * lane), (word.c >> lane & 1) != 0, cycle);
        }
    }
    if (!tagged_) return;
    if (tag.valid != begun_) {
        sink.complain(cycle, begun_ ? "a frame starts, and nothing says whose it is" : "a frame is named that doesn't start");
    }
    if (begun_) tag_ = tag;
}

void XgmiiDecoder::reset() {
    in_frame_ = odd_ = false;
    gap_ = LONG_GAP;
}

}  // namespace nicloop
