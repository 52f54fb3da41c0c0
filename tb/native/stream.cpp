#include "stream.hpp"

#include <algorithm>

namespace nicloop {

void Report::add(int64_t cycle, const std::string& where, const std::string& what) {
    if (count_++ < KEPT) text_ += "cycle " + std::to_string(cycle) + ": " + where + ": " + what + "\n";
}

// ---------------------------------------------------------------------------------------------------------- Source

void Source::push(int64_t n, const uint8_t* data, const int64_t* offset, const uint32_t* user, const uint32_t* meta,
                  const int64_t* earliest, int64_t cycle) {
    if (n <= 0) return;
    Block block;
    block.data.assign(data + offset[0], data + offset[n]);
    block.offset.resize(n + 1);
    for (int64_t i = 0; i <= n; ++i) block.offset[i] = offset[i] - offset[0];
    if (user) block.user.assign(user, user + n);
    if (meta) block.meta.assign(meta, meta + n * meta_words_);
    if (earliest) block.earliest.assign(earliest, earliest + n);
    block.arrival = (cycle_ < 0 ? cycle : cycle_) + 1;
    pushed_ += n;
    queue_.push_back(std::move(block));
}

// First cycle in which the next frame may be offered, but for the pacing.
int64_t Source::arrival() const {
    const Block& now = block();
    return now.earliest.empty() ? now.arrival : std::max(now.arrival, now.earliest[now.next]);
}

void Source::next_frame() {
    at_ = 0;
    Block& block = queue_.front();
    if (++block.next + 1 == block.offset.size()) queue_.pop_front();
}

void Source::edge(int64_t cycle, bool ready) {
    if (valid_) {
        if (!ready) return;
        ++beats_;
        stalls_ += cycle - offered_;
        if (at_ == 0) {
            ++begun_;
            log_.valid.push_back(valid_cycle_);
            log_.first.push_back(cycle);
        }
        at_ += BEAT_BYTES;
        if (beat_.last) {
            ++ended_;
            log_.last.push_back(cycle);
            next_frame();
        }
        valid_ = false;
    }
    waiting_ = false;
    if (queue_.empty()) return;
    const int64_t next = cycle + 1;
    if (at_ == 0) {
        if (pacing_.start_cycle(arrival()) > next) {
            waiting_ = true;
            return;
        }
        if (!gap_.pass()) return;
        pacing_.take(arrival(), length());
        valid_cycle_ = next;
    } else if (within_ && !gap_.pass()) {
        return;
    }
    fill();
    valid_ = true;
    offered_ = next;
}

// The beat at byte at_ of the frame. What the contract leaves undefined (lanes beyond tkeep, tuser before the last beat,
// meta after the first) is noise, so that a device that looks at it is found out.
void Source::fill() {
    const Block& now = block();
    const int64_t left = length() - at_;
    const uint8_t* bytes = now.data.data() + now.offset[now.next] + at_;
    beat_.last = left <= BEAT_BYTES;
    if (left >= BEAT_BYTES) {
        beat_.keep = FULL_KEEP;
        std::memcpy(beat_.data.data(), bytes, BEAT_BYTES);
    } else {
        const uint64_t noise[2] = {noise_.next(), noise_.next()};
        beat_.keep = (1u << left) - 1;
        std::memcpy(beat_.data.data(), noise, BEAT_BYTES);
        std::memcpy(beat_.data.data(), bytes, left);
    }
    if (beat_.last) {
        beat_.user = now.user.empty() ? 0 : now.user[now.next] & USER_MASK;
    } else if (at_ == 0) {
        beat_.user = static_cast<uint32_t>(noise_.next()) & USER_MASK;
    }
    if (at_ == 0) {
        if (now.meta.empty()) {
            std::fill_n(beat_.meta.begin(), meta_words_, 0u);
        } else {
            std::copy_n(now.meta.begin() + now.next * meta_words_, meta_words_, beat_.meta.begin());
        }
    } else if (at_ == BEAT_BYTES) {
        for (int i = 0; i < meta_words_; ++i) beat_.meta[i] = static_cast<uint32_t>(noise_.next());
    }
}

bool Source::due(int64_t cycle) {
    waiting_ = !queue_.empty() && pacing_.start_cycle(arrival()) > cycle;
    return !queue_.empty() && !waiting_;
}

Source::Whole Source::begin(int64_t cycle) {
    pacing_.take(arrival(), length());
    ++begun_;
    log_.valid.push_back(cycle);
    log_.first.push_back(cycle);
    at_ = length();
    const Block& now = block();
    return {now.data.data() + now.offset[now.next], length(), now.user.empty() ? 0 : now.user[now.next] & USER_MASK};
}

void Source::end(int64_t cycle) {
    if (at_ == 0) return;
    beats_ += (length() + BEAT_BYTES - 1) / BEAT_BYTES;
    ++ended_;
    log_.last.push_back(cycle);
    next_frame();
}

void Source::reset() {
    if (at_ > 0) {
        ++ended_;
        log_.last.push_back(-1);
        next_frame();
    }
    valid_ = false;
    waiting_ = false;
    pacing_.reset();
    for (Block& block : queue_) block.arrival = 0;
}

int64_t Source::sleeps_until(int64_t never) const {
    if (valid_ || at_ > 0) return -1;
    if (queue_.empty()) return never;
    return pacing_.start_cycle(arrival()) - 1;
}

void Source::forget() {
    queue_.clear();
    valid_ = waiting_ = false;
    at_ = 0;
    log_ = SourceLog{};
}

std::string Source::state() const {
    std::string text = "source " + name_ + ": ";
    if (valid_) {
        text += "stuck: beat " + std::to_string(at_ / BEAT_BYTES) + " of frame " + std::to_string(ended_) + " (" +
                std::to_string(length()) + " bytes) offered since cycle " + std::to_string(offered_) + ", tready is 0";
    } else if (!queue_.empty()) {
        text += "next is beat " + std::to_string(at_ / BEAT_BYTES) + " of frame " + std::to_string(ended_) +
                (waiting_ ? ", which waits for its time" : ", which waits in a gap");
    } else {
        text += "done, " + std::to_string(ended_) + " frames";
    }
    return text;
}

SourceLog Source::take_log() {
    // A frame that is under way stays for the next time.
    SourceLog log = std::move(log_);
    log_ = SourceLog{};
    const size_t whole = log.last.size();
    log_.valid.assign(log.valid.begin() + whole, log.valid.end());
    log_.first.assign(log.first.begin() + whole, log.first.end());
    log.valid.resize(whole);
    log.first.resize(whole);
    return log;
}

// ------------------------------------------------------------------------------------------------------------ Sink

void Sink::set_pause(Pause pause) {
    pause_ = pause;
    stall_ = -1;
    hold_last_ = pause.kind() == PauseKind::STALL_LAST;
}

void Sink::complain(int64_t cycle, const std::string& what) const {
    report_.add(cycle, "sink " + name_, what + " (frame " + std::to_string(frames_) + ", beat " +
                std::to_string(frame_beats_) + ")");
}

void Sink::check_keep(int64_t cycle, uint32_t keep, bool last) const {
    char hex[8];
    std::snprintf(hex, sizeof hex, "%04x", keep);
    if (keep == 0) {
        complain(cycle, "tkeep is 0");
    } else if ((keep & (keep + 1)) != 0) {
        complain(cycle, std::string("tkeep ") + hex + " is not contiguous from lane 0");
    } else if (!last) {
        complain(cycle, std::string("tkeep ") + hex + " before the last beat");
    }
}

void Sink::check_stable(int64_t cycle, const uint32_t* data, uint32_t keep, uint32_t user, bool last, const uint32_t* meta) {
    if (std::memcmp(held_.data.data(), data, BEAT_BYTES) != 0) complain(cycle, "tdata changed before tready");
    if (held_.keep != keep) complain(cycle, "tkeep changed before tready");
    if (held_.last != last) complain(cycle, "tlast changed before tready");
    if (last && held_.user != user) complain(cycle, "tuser changed before tready");
    if (!in_frame_ && std::memcmp(held_.meta.data(), meta, 4 * meta_words_) != 0) complain(cycle, "meta changed before tready");
}

namespace {

inline uint32_t bit_of(const uint32_t* words, int bit) { return words[bit / 32] >> bit % 32 & 1; }

inline void set_bits(uint32_t* words, int bit, uint32_t value) { words[bit / 32] |= value << bit % 32; }

}  // namespace

const uint32_t* Sink::word_of(uint16_t seq, bool direction) {
    if (!origin_.known()) return word_.meta.data();
    // Both fields lie in the lowest words, each in one of them.
    word_.meta[static_cast<size_t>(origin_.seq / 32)] = word_.meta[static_cast<size_t>(origin_.direction / 32)] = 0;
    set_bits(word_.meta.data(), origin_.seq, seq);
    set_bits(word_.meta.data(), origin_.direction, direction);
    return word_.meta.data();
}

inline size_t Sink::kind_of(const uint32_t* meta) const {
    if (!origin_.known()) return 0;
    return bit_of(meta, origin_.copy) ? COPY : bit_of(meta, origin_.direction);
}

bool Sink::beat(int64_t cycle, const uint32_t* data, uint32_t keep, uint32_t user, bool last, const uint32_t* meta) {
    if (pending_) {
        check_stable(cycle, data, keep, user, last, meta);
    } else if (keep != FULL_KEEP) {
        if (!last || keep == 0 || (keep & (keep + 1)) != 0) check_keep(cycle, keep, last);
    }
    if (!in_frame_ && !pending_) valid_cycle_ = cycle;
    const bool taken = ready_ && !(hold_last_ && last);
    if (taken) {
        ++beats_;
        if (!in_frame_) {
            in_frame_ = true;
            frame_beats_ = 0;
            first_cycle_ = cycle;
            kind_ = kind_of(meta);
            log_.meta.insert(log_.meta.end(), meta, meta + meta_words_);
        }
        ++frame_beats_;
        last_beat_ = cycle;
        const auto* bytes = reinterpret_cast<const uint8_t*>(data);
        log_.data.insert(log_.data.end(), bytes, bytes + BEAT_BYTES);
        if (keep != FULL_KEEP) {
            log_.data.resize(log_.data.size() - BEAT_BYTES);
            for (int lane = 0; lane < BEAT_BYTES; ++lane) {
                if (keep >> lane & 1) log_.data.push_back(bytes[lane]);
            }
        }
        if (last) {
            in_frame_ = false;
            frame_beats_ = 0;
            ++frames_;
            ++kinds_[kind_];
            log_.offset.push_back(static_cast<int64_t>(log_.data.size()));
            log_.user.push_back(user);
            log_.valid.push_back(valid_cycle_);
            log_.first.push_back(first_cycle_);
            log_.last.push_back(cycle);
        }
    } else {
        ++stalls_;
        if (!pending_) {
            std::memcpy(held_.data.data(), data, BEAT_BYTES);
            std::memcpy(held_.meta.data(), meta, 4 * meta_words_);
            held_.keep = keep;
            held_.user = user;
            held_.last = last;
        }
    }
    pending_ = !taken;
    decide(true, taken, last);
    return taken;
}

void Sink::idle(int64_t cycle) {
    if (pending_) {
        complain(cycle, "tvalid fell before tready");
        pending_ = false;
    }
    if (gapless_ && in_frame_ && last_beat_ == cycle - 1) complain(cycle, "starved: tvalid fell in mid-frame");
    decide(false, false, false);
}

void Sink::whole(const uint8_t* data, size_t size, uint32_t user, uint16_t seq, bool direction, bool known, int64_t first,
                 int64_t last) {
    const uint32_t* meta = known ? word_of(seq, direction) : word_.meta.data();
    beats_ += static_cast<int64_t>((size + BEAT_BYTES - 1) / BEAT_BYTES);
    ++frames_;
    ++kinds_[kind_of(meta)];
    log_.data.insert(log_.data.end(), data, data + size);
    log_.offset.push_back(static_cast<int64_t>(log_.data.size()));
    log_.user.push_back(user);
    log_.meta.insert(log_.meta.end(), meta, meta + meta_words_);
    log_.valid.push_back(first);
    log_.first.push_back(first);
    log_.last.push_back(last);
}

// tready of the next cycle, from what was on the stream in this one.
void Sink::decide(bool valid, bool taken, bool last) {
    switch (pause_.kind()) {
        case PauseKind::NONE:
            ready_ = true;
            break;
        case PauseKind::AFTER_VALID:
            ready_ = valid && !taken;
            break;
        case PauseKind::STALL_LAST:
            ready_ = true;
            if (taken) {
                stall_ = -1;
            } else if (valid && last) {
                if (stall_ < 0) stall_ = pause_.pick(1, pause_.most());
                --stall_;
            }
            hold_last_ = stall_ != 0;
            break;
        default:
            ready_ = pause_.pass();
    }
}

void Sink::reset() {
    if (in_frame_) {
        log_.data.resize(static_cast<size_t>(log_.offset.back()));
        log_.meta.resize(log_.meta.size() - meta_words_);
    }
    in_frame_ = false;
    pending_ = false;
    frame_beats_ = 0;
    ready_ = false;
    stall_ = -1;
    hold_last_ = pause_.kind() == PauseKind::STALL_LAST;
}

void Sink::idle_for(int64_t cycles) {
    const PauseKind kind = pause_.kind();
    const bool draws = kind != PauseKind::NONE && kind != PauseKind::AFTER_VALID && kind != PauseKind::STALL_LAST;
    if (!draws) cycles = std::min<int64_t>(cycles, 1);
    for (int64_t i = 0; i < cycles; ++i) decide(false, false, false);
}

void Sink::forget() {
    in_frame_ = pending_ = false;
    frame_beats_ = 0;
    log_ = SinkLog{};
}

std::string Sink::state() const {
    std::string text = "sink " + name_ + ": ";
    if (pending_) {
        text += "a beat waits for tready, which the sink keeps at 0";
    } else if (in_frame_) {
        text += "stuck in mid-frame: frame " + std::to_string(frames_) + " stopped after " + std::to_string(frame_beats_) +
                " beats, the last in cycle " + std::to_string(last_beat_);
    } else {
        text += "between frames, " + std::to_string(frames_) + " frames taken";
    }
    return text;
}

SinkLog Sink::take_log() {
    // A frame that is under way stays for the next time.
    SinkLog log = std::move(log_);
    log_ = SinkLog{};
    const size_t whole = static_cast<size_t>(log.offset.back());
    const size_t metas = log.last.size() * meta_words_;
    log_.data.assign(log.data.begin() + whole, log.data.end());
    log_.meta.assign(log.meta.begin() + metas, log.meta.end());
    log.data.resize(whole);
    log.meta.resize(metas);
    return log;
}

}  // namespace nicloop
