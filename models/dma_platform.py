"""Settings of hosts that block ``dma`` must work with, as data, and where each value comes from.

``documented``: the named source says it. ``assumed``: no public source was found; the value is what the source named
beside it suggests, or the least that PCI Express allows. ``measured``: on a machine of the project; none yet.
A profile says what firmware and kernel program by default, not all that the host can do. Sizes in bytes, times in ns.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from models.dma import Config

__all__ = ["PROFILES", "Basis", "Profile", "Value"]


class Basis(Enum):
    """How a value is known."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Value:
    """A number and where it is from."""

    value: int
    basis: Basis
    source: str


@dataclass(frozen=True)
class Profile:
    """One kind of host. page_size: of its kernel; read_latency_ns: from a read of 64 bytes to its completion."""

    name: str
    mps: Value
    mrrs: Value
    rcb: Value
    page_size: Value
    read_latency_ns: Value
    largest_read: Value
    """Reads above this are answered with Completer Abort, whatever Max_Read_Request_Size says; 4096: none are."""

    def config(self) -> Config:
        """Registers of ``dma`` as a driver sets them on this host."""
        return Config(mps=self.mps.value, mrrs=min(self.mrrs.value, self.largest_read.value), rcb=self.rcb.value)

    @property
    def region_page(self) -> int:
        """Largest page of the region table that a page of the kernel is a multiple of."""
        return max(size for size in (4096, 16384, 65536) if self.page_size.value % size == 0)

    def tags_for(self, bits_per_second: float, size: int = 64) -> int:
        """Reads of ``size`` bytes that must be under way at once for this rate."""
        return -(-int(bits_per_second * self.read_latency_ns.value) // (8 * size * 10**9))


def _assumed(value: int, why: str) -> Value:
    return Value(value, Basis.ASSUMED, why)


def _documented(value: int, source: str) -> Value:
    return Value(value, Basis.DOCUMENTED, source)


PCIE_DEFAULT = "PCI Express 4.0 section 7.5.3.4: value after reset"
PCIE_RCB = "PCI Express 4.0 section 2.3.1.1: the smaller of the two, whose splits include those of 128"
NO_LIMIT = "PCI Express 4.0 section 2.2.7: a completer takes any length"
BUDGET = "docs/dma.md, Time: what the tags are reckoned for"
KERNEL_X86 = "Linux arch/x86/include/asm/page_types.h: PAGE_SHIFT 12"
LOONGSON = 'Linux drivers/pci/controller/pci-loongson.c, "PCI: loongson: Improve the MRRS quirk for LS7A"'
SUNWAY = "openEuler kernel drivers/pci/controller/pci-sunway.c"

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            name="x86_server",
            mps=_assumed(256, "common root ports of servers"),
            mrrs=_documented(512, PCIE_DEFAULT),
            rcb=_assumed(64, PCIE_RCB),
            page_size=_documented(4096, KERNEL_X86),
            read_latency_ns=_assumed(800, BUDGET),
            largest_read=_documented(4096, NO_LIMIT),
        ),
        Profile(
            name="kunpeng",
            mps=_assumed(256, "root ports of servers"),
            mrrs=_documented(512, PCIE_DEFAULT),
            rcb=_assumed(64, PCIE_RCB),
            page_size=_assumed(65536, "arm64 kernels come with 4, 16 or 64 KiB; the largest asks most"),
            read_latency_ns=_assumed(1000, "two dies: more than one of x86"),
            largest_read=_documented(4096, NO_LIMIT),
        ),
        Profile(
            name="phytium",
            mps=_documented(128, PCIE_DEFAULT),
            mrrs=_documented(512, PCIE_DEFAULT),
            rcb=_assumed(64, PCIE_RCB),
            page_size=_assumed(65536, "arm64 kernels come with 4, 16 or 64 KiB; the largest asks most"),
            read_latency_ns=_assumed(1200, "a slower fabric than a server's of x86"),
            largest_read=_documented(4096, NO_LIMIT),
        ),
        Profile(
            name="loongson",
            mps=_assumed(256, "as the ports' largest read"),
            mrrs=_documented(256, LOONGSON + ": what firmware sets for ports that take no more"),
            rcb=_assumed(64, PCIE_RCB),
            page_size=_documented(16384, "Linux arch/loongarch/Kconfig: default 16KB_3LEVEL"),
            read_latency_ns=_assumed(1500, "a bridge chip between processor and port"),
            largest_read=_documented(256, LOONGSON + ": larger reads are answered with CA on some ports"),
        ),
        Profile(
            name="hygon",
            mps=_assumed(256, "as x86_server"),
            mrrs=_documented(512, PCIE_DEFAULT),
            rcb=_assumed(64, PCIE_RCB),
            page_size=_documented(4096, KERNEL_X86),
            read_latency_ns=_assumed(1000, "several dies: more than x86_server"),
            largest_read=_documented(4096, NO_LIMIT),
        ),
        Profile(
            name="sunway",
            mps=_assumed(256, SUNWAY + ": the smallest that any device of the root complex has; it begins with 512"),
            mrrs=_documented(512, SUNWAY + ": chip_pcie_configure limits it to 512"),
            rcb=_assumed(128, "the larger of the two: a host that splits least"),
            page_size=_documented(8192, "Linux for SW64, arch/sw_64/include/asm/page.h: PAGE_SHIFT 13"),
            read_latency_ns=_assumed(1500, "no figure was found"),
            largest_read=_documented(4096, NO_LIMIT),
        ),
    )
}
