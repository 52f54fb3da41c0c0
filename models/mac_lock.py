"""Block lock and the BER monitor of the 64B/66B PCS (IEEE 802.3 figures 49-12 and 49-13; clause 107 for 25G).

A call of ``step`` is one sync header. Names are those of 49.2.13.2.
"""

from __future__ import annotations

__all__ = ["BER_25G", "SLIP_WAIT", "BerMonitor", "BlockLock"]

SLIP_WAIT = 31
"""Headers after a slip that aren't looked at, as a SerDes needs them to shift: one request in 32 cycles at most."""
BER_25G = (97, round(2e-3 / 2.56e-9))
"""Invalid headers, and blocks of 2 ms."""


class BlockLock:
    """The lock state diagram: 64 valid headers of 64 lock, 16 invalid ones among 64 unlock; unlocked, one slips."""

    def __init__(self, slip_wait: int = SLIP_WAIT) -> None:
        self.block_lock = False
        self.slip = False
        self._slip_wait = slip_wait
        self._wait = 0
        self._reset_cnt()

    def _reset_cnt(self) -> None:
        self._sh_cnt = self._sh_invalid_cnt = 0

    def step(self, sh_valid: bool) -> bool:
        """Takes a header; returns ``block_lock``. ``slip`` is 1 after the header that asked for one."""
        self.slip = False
        if self._wait:
            self._wait -= 1
            return self.block_lock
        self._sh_cnt += 1
        if not sh_valid:
            self._sh_invalid_cnt += 1
            if self._sh_invalid_cnt == 16 or not self.block_lock:
                self.block_lock = False
                self.slip = True
                self._wait = self._slip_wait
                self._reset_cnt()
                return self.block_lock
        if self._sh_cnt == 64:
            if self._sh_invalid_cnt == 0:
                self.block_lock = True
            self._reset_cnt()
        return self.block_lock


class BerMonitor:
    """The BER monitor state diagram: ``limit`` invalid headers within ``period`` blocks are a high BER, until a period
    ends with fewer."""

    def __init__(self, limit: int, period: int) -> None:
        self.hi_ber = False
        self._limit = limit
        self._period = period
        self._start()

    def _start(self) -> None:
        self._ber_cnt = self._timer = 0

    def step(self, sh_valid: bool, block_lock: bool = True) -> bool:
        """Takes a header; returns ``hi_ber``."""
        if not block_lock:
            self.hi_ber = False
            self._start()
            return False
        self._timer += 1
        self._ber_cnt += not sh_valid
        if self._ber_cnt >= self._limit:
            self.hi_ber = True
        if self._timer >= self._period:
            if self._ber_cnt < self._limit:
                self.hi_ber = False
            self._start()
        return self.hi_ber
