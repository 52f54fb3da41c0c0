"""Profiles of hosts: every value is one that PCI Express allows and says where it is from, and the machine runs on it.

Sweep:    all profiles
Stimulus: random requests on pages of the host's size
Checks:   allowed values; data; no read is larger than the host takes
Timing:   tags that a latency asks for
"""

from __future__ import annotations

import random
from dataclasses import fields, replace

import pytest

from models.dma import Sent
from models.dma_platform import PROFILES, Basis, Value
from models.dma_region import PAGE_SIZES
from models.dma_split import SIZES
from tests.dma.host import mapped, run
from tests.dma.test_model import BASES, assert_done, some_requests

HOSTS = {"x86_server", "kunpeng", "phytium", "loongson", "hygon", "sunway"}


def test_there_is_a_profile_of_each_host():
    assert set(PROFILES) == HOSTS and all(profile.name == name for name, profile in PROFILES.items())


@pytest.mark.parametrize("name", PROFILES)
def test_every_value_is_allowed_and_has_its_source(name):
    profile = PROFILES[name]
    values = [value for one in fields(profile) if isinstance(value := getattr(profile, one.name), Value)]
    assert len(values) == 6 and all(value.source and value.basis in Basis for value in values)
    assert profile.mps.value in SIZES[:4] and profile.mrrs.value in SIZES and profile.largest_read.value in SIZES
    assert profile.rcb.value in (64, 128) and profile.region_page in PAGE_SIZES
    assert profile.page_size.value % profile.region_page == 0


@pytest.mark.parametrize("name", PROFILES)
def test_requests_run_on_each_host(name, seed):
    profile = PROFILES[name]
    config = replace(profile.config(), requesters=2)
    requests = some_requests(random.Random(seed), config, 30)
    done = run(config, mapped(BASES, page_size=profile.region_page), seed, requests)
    assert_done(done, requests)
    reads = [event.tlp for event in done.events if isinstance(event, Sent) and not event.tlp.write]
    assert reads and max(4 * tlp.length for tlp in reads) <= profile.largest_read.value


def test_50_gigabits_of_64_byte_reads_at_800_ns_need_79_tags():
    assert PROFILES["x86_server"].tags_for(50e9) == 79, "78.125"
