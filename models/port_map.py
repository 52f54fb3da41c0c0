# Generated from rtl/nic/port.rdl by `make generate`: do not edit.
# fmt: off
# ruff: noqa: E501
"""The register map of one port (types: models/registers.py)."""

from models.registers import Access, Field, Register, RegisterMap

__all__ = ["PORT"]

PORT = RegisterMap("port", 0x100000, (
    Register("nic.id", 0x00000, 32, (
        Field("block", 0, 8, Access.RO, 0x0, False, "Block number: 0 is nic."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("nic.scratch", 0x00004, 32, (
        Field("value", 0, 32, Access.RW, 0x0, False, "Any value."),
    ), "A word for software's own use; the port does nothing with it."),
    Register("nic.control", 0x00008, 32, (
        Field("rx_enable", 0, 1, Access.RW, 0x1, False, "0: received frames end as port_disabled."),
        Field("tx_enable", 1, 1, Access.RW, 0x1, False, "0: frames to transmit end as port_disabled."),
    ), "Switches of the port. Each is read at a frame's first beat."),
    Register("nic.max_frame", 0x0000c, 32, (
        Field("bytes", 0, 16, Access.RW, 0x257c, False, "Bytes."),
    ), "Longest frame in either direction, in bytes without FCS; a longer one ends as oversize."),
    Register("nic.status", 0x00010, 32, (
        Field("idle", 0, 1, Access.RO, None, True, "No frame and no work is in the port."),
        Field("ready", 1, 1, Access.RO, None, True, "All tables are clear after reset."),
        Field("rx_account_lost", 2, 1, Access.W1C, 0x0, True, "A disposition of rx was lost: a FIFO of nic_account overflowed."),
        Field("tx_account_lost", 3, 1, Access.W1C, 0x0, True, "The same for tx."),
    ), "State of the port."),
    Register("nic.time_increment", 0x00018, 64, (
        Field("value", 0, 40, Access.RW, 0x400000000, False, "8 integer bits, 32 fractional bits; reset 4.0 ns (250 MHz)."),
    ), "Nanoseconds that `now` grows by in a cycle, 8.32 fixed point. Write the low word, then the high one."),
    Register("nic.now", 0x00020, 64, (
        Field("ns", 0, 64, Access.RO, None, True, "Nanoseconds."),
    ), "Time of the port."),
    Register("nic.rx_frames_in", 0x00040, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames taken in from the wire at ingress, good and bad."),
    Register("nic.rx_bytes_in", 0x00048, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Bytes of those frames, without FCS."),
    Register("nic.rx_frames_out", 0x00050, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames handed to the host at egress."),
    Register("nic.rx_bytes_out", 0x00058, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Bytes of those frames."),
    Register("nic.tx_frames_in", 0x00060, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames taken in from the host at ingress, good and bad."),
    Register("nic.tx_bytes_in", 0x00068, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Bytes of those frames."),
    Register("nic.tx_frames_out", 0x00070, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames handed to the wire at egress."),
    Register("nic.tx_bytes_out", 0x00078, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Bytes of those frames, without FCS."),
    Register("nic.rx_disposition", 0x01000, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Frames that ended with this code."),
    ), "Received frames by disposition code (models/meta.py).", 128, 8),
    Register("nic.tx_disposition", 0x02000, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Frames that ended with this code."),
    ), "Transmitted frames by disposition code.", 128, 8),
    Register("mac_rx.id", 0x10000, 32, (
        Field("block", 0, 8, Access.RO, 0x1, False, "Block number: 1 is mac."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("mac_rx.control", 0x10004, 32, (
        Field("enable", 0, 1, Access.RW, 0x1, False, "0: frames that start are not looked at; one under way is received."),
        Field("max_frame", 16, 16, Access.RW, 0x257c, False, "Longest frame in bytes without FCS, 64 to 65523; a tag has 4 bytes more. To be changed while no frames come."),
    ), "What the MAC looks at. Settings act some cycles later."),
    Register("mac_rx.status", 0x10008, 32, (
        Field("local_fault", 0, 1, Access.RO, None, True, "Local fault sequences come in."),
        Field("remote_fault", 1, 1, Access.RO, None, True, "Remote fault sequences come in."),
        Field("clock", 2, 1, Access.RO, None, True, "The MAC's clock runs, and its reset is over."),
        Field("local_fault_seen", 8, 1, Access.W1C, 0x0, True, "There was a local fault; set while there is one."),
        Field("remote_fault_seen", 9, 1, Access.W1C, 0x0, True, "There was a remote fault; set while there is one."),
    ), "State of the link."),
    Register("mac_rx.time_increment", 0x10010, 64, (
        Field("value", 0, 40, Access.RW, 0x28f5c28f6, False, "8 integer bits, 32 fractional bits; reset 2.56 ns (390.625 MHz)."),
    ), "Nanoseconds of a cycle of the MAC's clock, 8.32 fixed point. Write the low word, then the high one."),
    Register("mac_rx.frames_ok", 0x10100, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames."),
    Register("mac_rx.unicast", 0x10108, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames to one station."),
    Register("mac_rx.multicast", 0x10110, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames to a group, without broadcasts."),
    Register("mac_rx.broadcast", 0x10118, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames to all stations."),
    Register("mac_rx.size_64", 0x10120, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 64 bytes, with FCS as those below."),
    Register("mac_rx.size_65_127", 0x10128, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 65 to 127 bytes."),
    Register("mac_rx.size_128_255", 0x10130, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 128 to 255 bytes."),
    Register("mac_rx.size_256_511", 0x10138, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 256 to 511 bytes."),
    Register("mac_rx.size_512_1023", 0x10140, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 512 to 1023 bytes."),
    Register("mac_rx.size_1024_1518", 0x10148, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 1024 to 1518 bytes."),
    Register("mac_rx.size_1519_max", 0x10150, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 1519 bytes and more."),
    Register("mac_rx.pause", 0x10158, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of MAC control (EtherType 0x8808)."),
    Register("mac_rx.fcs_errors", 0x10160, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames with a wrong FCS."),
    Register("mac_rx.undersize", 0x10168, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames below 64 bytes with a right FCS."),
    Register("mac_rx.fragments", 0x10170, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames below 64 bytes with a wrong FCS."),
    Register("mac_rx.oversize", 0x10178, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames above `max_frame` with a right FCS."),
    Register("mac_rx.jabbers", 0x10180, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames above `max_frame` with a wrong FCS or another end than terminate."),
    Register("mac_rx.symbol_errors", 0x10188, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames ended by another control character than terminate."),
    Register("mac_rx.bad_preamble", 0x10190, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Words with a start that begins no frame."),
    Register("mac_rx.local_faults", 0x10198, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Times that a local fault began."),
    Register("mac_rx.remote_faults", 0x101a0, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Times that a remote fault began."),
    Register("mac_rx.overflow_cut", 0x101a8, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames cut for want of room in the clock crossing (code 21)."),
    Register("mac_rx.overflow_lost", 0x101b0, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames that never entered the port: there was no room, or the crossing wasn't open."),
    Register("mac_rx.bytes_ok", 0x101b8, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Bytes of good frames, with FCS."),
    Register("mac_tx.id", 0x14000, 32, (
        Field("block", 0, 8, Access.RO, 0x1, False, "Block number: 1 is mac."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("mac_tx.control", 0x14004, 32, (
        Field("enable", 0, 1, Access.RW, 0x1, False, "0: no frame is begun; one under way is sent."),
        Field("dic", 1, 1, Access.RW, 0x1, False, "Deficit idle count (IEEE 802.3, 46.3.1.4); 0: no gap is shorter than `ifg`."),
        Field("ifg", 8, 8, Access.RW, 0xc, False, "Gap between frames in bytes; below 12 it counts as 12."),
    ), "How frames are sent. Settings act some cycles later."),
    Register("mac_tx.status", 0x14008, 32, (
        Field("local_fault", 0, 1, Access.RO, None, True, "Local fault: remote fault sequences are sent."),
        Field("remote_fault", 1, 1, Access.RO, None, True, "Remote fault: idle is sent."),
        Field("clock", 2, 1, Access.RO, None, True, "The MAC's clock runs, and its reset is over."),
    ), "The link's faults as the MAC obeys them."),
    Register("mac_tx.time_increment", 0x14010, 64, (
        Field("value", 0, 40, Access.RW, 0x28f5c28f6, False, "8 integer bits, 32 fractional bits; reset 2.56 ns (390.625 MHz)."),
    ), "Nanoseconds of a cycle of the MAC's clock, 8.32 fixed point. Write the low word, then the high one."),
    Register("mac_tx.frames_ok", 0x14100, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames."),
    Register("mac_tx.unicast", 0x14108, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames to one station."),
    Register("mac_tx.multicast", 0x14110, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames to a group, without broadcasts."),
    Register("mac_tx.broadcast", 0x14118, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames to all stations."),
    Register("mac_tx.size_64", 0x14120, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 64 bytes, with FCS as those below."),
    Register("mac_tx.size_65_127", 0x14128, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 65 to 127 bytes."),
    Register("mac_tx.size_128_255", 0x14130, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 128 to 255 bytes."),
    Register("mac_tx.size_256_511", 0x14138, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 256 to 511 bytes."),
    Register("mac_tx.size_512_1023", 0x14140, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 512 to 1023 bytes."),
    Register("mac_tx.size_1024_1518", 0x14148, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 1024 to 1518 bytes."),
    Register("mac_tx.size_1519_max", 0x14150, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of 1519 bytes and more."),
    Register("mac_tx.pause", 0x14158, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Good frames of MAC control (EtherType 0x8808)."),
    Register("mac_tx.underrun", 0x14160, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames that starved (code 25)."),
    Register("mac_tx.errored", 0x14168, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames sent bad: a reset of the port cut them."),
    Register("mac_tx.fault_dropped", 0x14170, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Frames thrown away while a fault stood (code 26)."),
    Register("mac_tx.bytes_ok", 0x14178, 64, (
        Field("count", 0, 64, Access.RO, None, True, "Wraps at 2**64."),
    ), "Bytes of good frames, with FCS."),
    Register("parser_rx.id", 0x20000, 32, (
        Field("block", 0, 8, Access.RO, 0x2, False, "Block number: 2 is parser."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("parser_rx.drop", 0x20004, 32, (
        Field("codes", 0, 16, Access.RW, 0x0, False, "Bit code - 32: 1, frames with this code are dropped; 0, they are delivered."),
    ), "Which malformed frames are marked bad, to be dropped by the buffer further on. Read when a frame's last beat goes out."),
    Register("parser_rx.frames", 0x20040, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that left, good and bad."),
    Register("parser_rx.l2_truncated", 0x20080, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within Ethernet or its tags (code 32)."),
    Register("parser_rx.l3_truncated", 0x20088, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the IP header or the MAC control opcode (code 33)."),
    Register("parser_rx.bad_ip_version", 0x20090, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames whose IP version is not that of the EtherType (code 34)."),
    Register("parser_rx.bad_ihl", 0x20098, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with an IPv4 header length below 5 words (code 35)."),
    Register("parser_rx.bad_l3_length", 0x200a0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with an IPv4 total length below the header's (code 36)."),
    Register("parser_rx.too_deep", 0x200a8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a header beyond what the parser sees, a third tag or a fifth extension header (code 37)."),
    Register("parser_rx.ext_truncated", 0x200b0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within an extension header (code 38)."),
    Register("parser_rx.l4_truncated", 0x200b8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within TCP, UDP, ICMP or ESP (code 39)."),
    Register("parser_rx.bad_tcp_offset", 0x200c0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a TCP data offset below 5 words (code 40)."),
    Register("parser_rx.bad_udp_length", 0x200c8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a UDP length below 8, or beyond the IP packet (code 41)."),
    Register("parser_rx.bth_truncated", 0x200d0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the BTH (code 42)."),
    Register("parser_rx.esp_truncated", 0x200d8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within ESP in UDP (code 43)."),
    Register("parser_rx.l3_beyond_frame", 0x200e0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that end before their IP packet does (code 44)."),
    Register("parser_rx.tunnel_truncated", 0x200e8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the VXLAN or GENEVE header (code 45)."),
    Register("parser_rx.bad_tunnel", 0x200f0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "VXLAN without a valid VNI, GENEVE of an unknown version (code 46)."),
    Register("parser_tx.id", 0x24000, 32, (
        Field("block", 0, 8, Access.RO, 0x2, False, "Block number: 2 is parser."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("parser_tx.drop", 0x24004, 32, (
        Field("codes", 0, 16, Access.RW, 0x0, False, "Bit code - 32: 1, frames with this code are dropped; 0, they are delivered."),
    ), "Which malformed frames are marked bad, to be dropped by the buffer further on. Read when a frame's last beat goes out."),
    Register("parser_tx.frames", 0x24040, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that left, good and bad."),
    Register("parser_tx.l2_truncated", 0x24080, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within Ethernet or its tags (code 32)."),
    Register("parser_tx.l3_truncated", 0x24088, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the IP header or the MAC control opcode (code 33)."),
    Register("parser_tx.bad_ip_version", 0x24090, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames whose IP version is not that of the EtherType (code 34)."),
    Register("parser_tx.bad_ihl", 0x24098, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with an IPv4 header length below 5 words (code 35)."),
    Register("parser_tx.bad_l3_length", 0x240a0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with an IPv4 total length below the header's (code 36)."),
    Register("parser_tx.too_deep", 0x240a8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a header beyond what the parser sees, a third tag or a fifth extension header (code 37)."),
    Register("parser_tx.ext_truncated", 0x240b0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within an extension header (code 38)."),
    Register("parser_tx.l4_truncated", 0x240b8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within TCP, UDP, ICMP or ESP (code 39)."),
    Register("parser_tx.bad_tcp_offset", 0x240c0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a TCP data offset below 5 words (code 40)."),
    Register("parser_tx.bad_udp_length", 0x240c8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a UDP length below 8, or beyond the IP packet (code 41)."),
    Register("parser_tx.bth_truncated", 0x240d0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the BTH (code 42)."),
    Register("parser_tx.esp_truncated", 0x240d8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within ESP in UDP (code 43)."),
    Register("parser_tx.l3_beyond_frame", 0x240e0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that end before their IP packet does (code 44)."),
    Register("parser_tx.tunnel_truncated", 0x240e8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the VXLAN or GENEVE header (code 45)."),
    Register("parser_tx.bad_tunnel", 0x240f0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "VXLAN without a valid VNI, GENEVE of an unknown version (code 46)."),
    Register("parser_inner.id", 0x28000, 32, (
        Field("block", 0, 8, Access.RO, 0x2, False, "Block number: 2 is parser."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("parser_inner.drop", 0x28004, 32, (
        Field("codes", 0, 16, Access.RW, 0x0, False, "Bit code - 32: 1, frames with this code are dropped; 0, they are delivered."),
    ), "Which malformed frames are marked bad, to be dropped by the buffer further on. Read when a frame's last beat goes out."),
    Register("parser_inner.frames", 0x28040, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that left, good and bad."),
    Register("parser_inner.l2_truncated", 0x28080, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within Ethernet or its tags (code 32)."),
    Register("parser_inner.l3_truncated", 0x28088, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the IP header or the MAC control opcode (code 33)."),
    Register("parser_inner.bad_ip_version", 0x28090, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames whose IP version is not that of the EtherType (code 34)."),
    Register("parser_inner.bad_ihl", 0x28098, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with an IPv4 header length below 5 words (code 35)."),
    Register("parser_inner.bad_l3_length", 0x280a0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with an IPv4 total length below the header's (code 36)."),
    Register("parser_inner.too_deep", 0x280a8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a header beyond what the parser sees, a third tag or a fifth extension header (code 37)."),
    Register("parser_inner.ext_truncated", 0x280b0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within an extension header (code 38)."),
    Register("parser_inner.l4_truncated", 0x280b8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within TCP, UDP, ICMP or ESP (code 39)."),
    Register("parser_inner.bad_tcp_offset", 0x280c0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a TCP data offset below 5 words (code 40)."),
    Register("parser_inner.bad_udp_length", 0x280c8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with a UDP length below 8, or beyond the IP packet (code 41)."),
    Register("parser_inner.bth_truncated", 0x280d0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the BTH (code 42)."),
    Register("parser_inner.esp_truncated", 0x280d8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within ESP in UDP (code 43)."),
    Register("parser_inner.l3_beyond_frame", 0x280e0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that end before their IP packet does (code 44)."),
    Register("parser_inner.tunnel_truncated", 0x280e8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames found to end within the VXLAN or GENEVE header (code 45)."),
    Register("parser_inner.bad_tunnel", 0x280f0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "VXLAN without a valid VNI, GENEVE of an unknown version (code 46)."),
    Register("acl_rx.id", 0x30000, 32, (
        Field("block", 0, 8, Access.RO, 0x3, False, "Block number: 3 is acl."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("acl_rx.size", 0x30004, 32, (
        Field("rules", 0, 16, Access.RO, None, True, "Rules of a set."),
        Field("meters", 16, 9, Access.RO, None, True, "Meters."),
        Field("ipv6", 28, 1, Access.RO, None, True, "1: addresses of 128 bits; 0: the key has 6 words, and IPv6 addresses aren't compared."),
        Field("tunnel", 29, 1, Access.RO, None, True, "1: headers in a tunnel are looked up too."),
    ), "What the slot was built with."),
    Register("acl_rx.status", 0x30008, 32, (
        Field("active", 0, 1, Access.RO, None, True, "The set that is asked; what `command` writes goes to the other."),
        Field("settled", 1, 1, Access.RO, None, True, "1: every frame that the other set judged has been counted."),
    ), "State of the sets."),
    Register("acl_rx.command", 0x3000c, 32, (
        Field("op", 0, 4, Access.RW, 0x0, False, "1 write rule, 2 remove rule, 3 clear the set that isn't asked, 4 its default action, 5 swap, 6 read a counter, 7 read it and set it to 0, 8 write meter."),
        Field("set", 8, 1, Access.RW, 0x0, False, "Set of the counter."),
        Field("number", 16, 16, Access.RW, 0x0, False, "Of the rule, the counter (65535: the default action) or the meter."),
    ), "A write does something, and is answered when it is done. A number beyond the last and an op that isn't listed do nothing. A read gives what was written last."),
    Register("acl_rx.action", 0x30020, 32, (
        Field("word", 0, 32, Access.RW, 0x0, False, "As above."),
    ), "Word 0: 0 deny, 1 queue on, 9:2 queue, 10 mirror on, 18:11 mirror, 19 redirect on, 27:20 redirect, 28 priority on, 31:29 priority. Word 1: 0 mark on, 6:1 DSCP, 7 meter on, 15:8 meter, 16 protect on, 28:17 security association.", 2, 4),
    Register("acl_rx.src_range", 0x30028, 32, (
        Field("first", 0, 16, Access.RW, 0x0, False, "Lowest port that matches."),
        Field("last", 16, 16, Access.RW, 0xffff, False, "Highest port that matches."),
    ), "Source ports of a rule."),
    Register("acl_rx.dst_range", 0x3002c, 32, (
        Field("first", 0, 16, Access.RW, 0x0, False, "Lowest port that matches."),
        Field("last", 16, 16, Access.RW, 0xffff, False, "Highest port that matches."),
    ), "Destination ports of a rule."),
    Register("acl_rx.value", 0x30040, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "Bits of the key."),
    ), "Key of a rule (docs/acl.md, Key): bits 31:0 in word 0. Bits that aren't asked may be anything.", 12, 4),
    Register("acl_rx.mask", 0x30080, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "1: the bit must be as in `value`."),
    ), "Which bits of the key are asked.", 12, 4),
    Register("acl_rx.cir", 0x300c0, 64, (
        Field("rate", 0, 64, Access.RW, 0x0, False, "Bits a second, of frames without FCS."),
    ), "Committed rate of a meter."),
    Register("acl_rx.pir", 0x300c8, 64, (
        Field("rate", 0, 64, Access.RW, 0x0, False, "Bits a second, of frames without FCS."),
    ), "Peak rate of a meter."),
    Register("acl_rx.cbs", 0x300d0, 32, (
        Field("bytes", 0, 32, Access.RW, 0x0, False, "Bytes."),
    ), "Committed burst of a meter."),
    Register("acl_rx.pbs", 0x300d4, 32, (
        Field("bytes", 0, 32, Access.RW, 0x0, False, "Bytes."),
    ), "Peak burst of a meter."),
    Register("acl_rx.yellow", 0x300d8, 32, (
        Field("dscp", 0, 6, Access.RW, 0x0, False, "They are marked with this DSCP, whatever the rule marks."),
        Field("on", 6, 1, Access.RW, 0x0, False, "1: they are marked."),
    ), "What becomes of a meter's yellow frames."),
    Register("acl_rx.counter_frames", 0x300e0, 64, (
        Field("frames", 0, 64, Access.RO, None, True, "Modulo 2**64."),
    ), "Frames that the counter had which was read last."),
    Register("acl_rx.counter_bytes", 0x300e8, 64, (
        Field("bytes", 0, 64, Access.RO, None, True, "Modulo 2**64."),
    ), "Bytes that it had, without FCS."),
    Register("acl_rx.judged", 0x30100, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that didn't come bad: what all counters of rules and default actions counted since reset. Those below count these frames only."),
    Register("acl_rx.unjudged", 0x30108, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that came bad; no other counter moves for them."),
    Register("acl_rx.denied", 0x30110, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames denied by their rule or the default action (code 48)."),
    Register("acl_rx.policed", 0x30118, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found red (code 49): those of `metered_red`."),
    Register("acl_rx.no_port", 0x30120, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames to be redirected to a port that there isn't (code 50), unless denied or policed."),
    Register("acl_rx.mirrored", 0x30128, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that were copied, whatever became of frame and copy."),
    Register("acl_rx.mirror_dropped", 0x30130, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Copies for which the mirror's buffer had no room."),
    Register("acl_rx.redirected", 0x30138, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that leave by the other direction."),
    Register("acl_rx.metered_green", 0x30140, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found green."),
    Register("acl_rx.metered_yellow", 0x30148, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found yellow, marked or not."),
    Register("acl_rx.metered_red", 0x30150, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found red."),
    Register("acl_tx.id", 0x34000, 32, (
        Field("block", 0, 8, Access.RO, 0x3, False, "Block number: 3 is acl."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("acl_tx.size", 0x34004, 32, (
        Field("rules", 0, 16, Access.RO, None, True, "Rules of a set."),
        Field("meters", 16, 9, Access.RO, None, True, "Meters."),
        Field("ipv6", 28, 1, Access.RO, None, True, "1: addresses of 128 bits; 0: the key has 6 words, and IPv6 addresses aren't compared."),
        Field("tunnel", 29, 1, Access.RO, None, True, "1: headers in a tunnel are looked up too."),
    ), "What the slot was built with."),
    Register("acl_tx.status", 0x34008, 32, (
        Field("active", 0, 1, Access.RO, None, True, "The set that is asked; what `command` writes goes to the other."),
        Field("settled", 1, 1, Access.RO, None, True, "1: every frame that the other set judged has been counted."),
    ), "State of the sets."),
    Register("acl_tx.command", 0x3400c, 32, (
        Field("op", 0, 4, Access.RW, 0x0, False, "1 write rule, 2 remove rule, 3 clear the set that isn't asked, 4 its default action, 5 swap, 6 read a counter, 7 read it and set it to 0, 8 write meter."),
        Field("set", 8, 1, Access.RW, 0x0, False, "Set of the counter."),
        Field("number", 16, 16, Access.RW, 0x0, False, "Of the rule, the counter (65535: the default action) or the meter."),
    ), "A write does something, and is answered when it is done. A number beyond the last and an op that isn't listed do nothing. A read gives what was written last."),
    Register("acl_tx.action", 0x34020, 32, (
        Field("word", 0, 32, Access.RW, 0x0, False, "As above."),
    ), "Word 0: 0 deny, 1 queue on, 9:2 queue, 10 mirror on, 18:11 mirror, 19 redirect on, 27:20 redirect, 28 priority on, 31:29 priority. Word 1: 0 mark on, 6:1 DSCP, 7 meter on, 15:8 meter, 16 protect on, 28:17 security association.", 2, 4),
    Register("acl_tx.src_range", 0x34028, 32, (
        Field("first", 0, 16, Access.RW, 0x0, False, "Lowest port that matches."),
        Field("last", 16, 16, Access.RW, 0xffff, False, "Highest port that matches."),
    ), "Source ports of a rule."),
    Register("acl_tx.dst_range", 0x3402c, 32, (
        Field("first", 0, 16, Access.RW, 0x0, False, "Lowest port that matches."),
        Field("last", 16, 16, Access.RW, 0xffff, False, "Highest port that matches."),
    ), "Destination ports of a rule."),
    Register("acl_tx.value", 0x34040, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "Bits of the key."),
    ), "Key of a rule (docs/acl.md, Key): bits 31:0 in word 0. Bits that aren't asked may be anything.", 12, 4),
    Register("acl_tx.mask", 0x34080, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "1: the bit must be as in `value`."),
    ), "Which bits of the key are asked.", 12, 4),
    Register("acl_tx.cir", 0x340c0, 64, (
        Field("rate", 0, 64, Access.RW, 0x0, False, "Bits a second, of frames without FCS."),
    ), "Committed rate of a meter."),
    Register("acl_tx.pir", 0x340c8, 64, (
        Field("rate", 0, 64, Access.RW, 0x0, False, "Bits a second, of frames without FCS."),
    ), "Peak rate of a meter."),
    Register("acl_tx.cbs", 0x340d0, 32, (
        Field("bytes", 0, 32, Access.RW, 0x0, False, "Bytes."),
    ), "Committed burst of a meter."),
    Register("acl_tx.pbs", 0x340d4, 32, (
        Field("bytes", 0, 32, Access.RW, 0x0, False, "Bytes."),
    ), "Peak burst of a meter."),
    Register("acl_tx.yellow", 0x340d8, 32, (
        Field("dscp", 0, 6, Access.RW, 0x0, False, "They are marked with this DSCP, whatever the rule marks."),
        Field("on", 6, 1, Access.RW, 0x0, False, "1: they are marked."),
    ), "What becomes of a meter's yellow frames."),
    Register("acl_tx.counter_frames", 0x340e0, 64, (
        Field("frames", 0, 64, Access.RO, None, True, "Modulo 2**64."),
    ), "Frames that the counter had which was read last."),
    Register("acl_tx.counter_bytes", 0x340e8, 64, (
        Field("bytes", 0, 64, Access.RO, None, True, "Modulo 2**64."),
    ), "Bytes that it had, without FCS."),
    Register("acl_tx.judged", 0x34100, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that didn't come bad: what all counters of rules and default actions counted since reset. Those below count these frames only."),
    Register("acl_tx.unjudged", 0x34108, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that came bad; no other counter moves for them."),
    Register("acl_tx.denied", 0x34110, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames denied by their rule or the default action (code 48)."),
    Register("acl_tx.policed", 0x34118, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found red (code 49): those of `metered_red`."),
    Register("acl_tx.no_port", 0x34120, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames to be redirected to a port that there isn't (code 50), unless denied or policed."),
    Register("acl_tx.mirrored", 0x34128, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that were copied, whatever became of frame and copy."),
    Register("acl_tx.mirror_dropped", 0x34130, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Copies for which the mirror's buffer had no room."),
    Register("acl_tx.redirected", 0x34138, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that leave by the other direction."),
    Register("acl_tx.metered_green", 0x34140, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found green."),
    Register("acl_tx.metered_yellow", 0x34148, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found yellow, marked or not."),
    Register("acl_tx.metered_red", 0x34150, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames that their meter found red."),
    Register("pfc_rx.id", 0x40000, 32, (
        Field("block", 0, 8, Access.RO, 0x4, False, "Number of the block that belongs here."),
        Field("version", 8, 8, Access.RO, 0x0, False, "Version of the block: 0, as there is none."),
        Field("state", 16, 2, Access.RO, 0x0, False, "0 absent, 1 left out."),
    ), "What stands at this address."),
    Register("tx_sched.id", 0x44000, 32, (
        Field("block", 0, 8, Access.RO, 0x4, False, "Block number: 4 is flow."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x2, False, "2: a stand-in."),
    ), "What stands at this address."),
    Register("tx_sched.level", 0x44004, 32, (
        Field("beats", 0, 16, Access.RO, None, True, "Beats."),
    ), "Beats of 16 bytes held now."),
    Register("tx_sched.peak", 0x44008, 32, (
        Field("beats", 0, 16, Access.RO, None, True, "Beats."),
    ), "Most beats ever held since reset."),
    Register("rx_buffer.id", 0x48000, 32, (
        Field("block", 0, 8, Access.RO, 0x4, False, "Block number: 4 is flow."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x2, False, "2: a stand-in."),
    ), "What stands at this address."),
    Register("rx_buffer.level", 0x48004, 32, (
        Field("beats", 0, 16, Access.RO, None, True, "Beats."),
    ), "Beats of 16 bytes held now."),
    Register("rx_buffer.peak", 0x48008, 32, (
        Field("beats", 0, 16, Access.RO, None, True, "Beats."),
    ), "Most beats ever held since reset."),
    Register("ipsec_rx.id", 0x50000, 32, (
        Field("block", 0, 8, Access.RO, 0x5, False, "Block number: 5 is ipsec."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("ipsec_rx.size", 0x50004, 32, (
        Field("sas", 0, 16, Access.RO, None, True, "SAs."),
        Field("tx", 16, 1, Access.RO, None, True, "1: transmit."),
        Field("sm4", 17, 1, Access.RO, None, True, "1: SM4-GCM too."),
    ), "What the slot was built with."),
    Register("ipsec_rx.control", 0x50008, 32, (
        Field("drop_no_sa", 0, 1, Access.RW, 0x0, False, "No SA is found."),
        Field("drop_cipher", 1, 1, Access.RW, 0x0, False, "The SA's cipher is another one."),
        Field("drop_fragment", 2, 1, Access.RW, 0x0, False, "A fragment."),
    ), "What becomes of received ESP that this block can't decrypt: 0, it passes to the host; 1, it ends here."),
    Register("ipsec_rx.command", 0x5000c, 32, (
        Field("op", 0, 4, Access.RW, 0x0, False, "1 write SA, 2 remove SA, 3 read its state."),
        Field("number", 16, 16, Access.RW, 0x0, False, "Of the SA."),
    ), "A write does something, and is answered when it is done. A number beyond the last and an op that isn't listed do nothing. A read gives what was written last."),
    Register("ipsec_rx.event", 0x50010, 32, (
        Field("valid", 0, 1, Access.W1C, 0x0, True, "There was one. Write 1 to clear."),
        Field("more", 1, 1, Access.W1C, 0x0, True, "Others came since. Write 1 to clear."),
        Field("kind", 4, 2, Access.RO, None, True, "0 soft lifetime, 1 hard lifetime, 2 no further sequence number."),
        Field("sa", 16, 12, Access.RO, None, True, "The SA."),
    ), "The first SA that reached something since `valid` was cleared."),
    Register("ipsec_rx.max_packet", 0x50014, 32, (
        Field("bytes", 0, 16, Access.RW, 0x256e, False, "Bytes, from the outer IP header on."),
    ), "Longest packet that may be transmitted encrypted."),
    Register("ipsec_rx.form", 0x50020, 32, (
        Field("mode", 0, 2, Access.RW, 0x0, False, "0 transport, 1 tunnel, 2 on rx either."),
        Field("natt", 2, 2, Access.RW, 0x0, False, "ESP in UDP: 0 no, 1 yes, 2 on rx either."),
        Field("ipv6", 4, 1, Access.RW, 0x0, False, "Family of `src` and `dst`."),
        Field("esn", 5, 1, Access.RW, 0x0, False, "64-bit sequence numbers."),
        Field("cipher", 6, 2, Access.RW, 0x0, False, "0 AES-128-GCM, 1 AES-256-GCM, 2 SM4-GCM, 3 another one."),
        Field("tag", 8, 2, Access.RW, 0x0, False, "Bytes of the tag: 0, 1, 2 for 8, 12, 16."),
        Field("window", 16, 6, Access.RW, 0x0, False, "Anti-replay window, numbers / 32."),
    ), "Form of an SA."),
    Register("ipsec_rx.outer", 0x50024, 32, (
        Field("dscp", 0, 6, Access.RW, 0x0, False, "DSCP, where `dscp_fixed`."),
        Field("dscp_fixed", 6, 1, Access.RW, 0x0, False, "0: the inner packet's DSCP."),
        Field("ecn_compat", 7, 1, Access.RW, 0x0, False, "1: ECN is 0 (RFC 6040 compatibility mode)."),
        Field("df", 8, 2, Access.RW, 0x0, False, "DF: 0 copied, 1 clear, 2 set."),
        Field("ttl", 16, 8, Access.RW, 0x40, False, "TTL or hop limit; 0: the inner packet's."),
    ), "Outer header of a tunnel."),
    Register("ipsec_rx.spi", 0x50028, 32, (
        Field("value", 0, 32, Access.RW, 0x0, False, "As a number."),
    ), "Security parameters index."),
    Register("ipsec_rx.salt", 0x5002c, 32, (
        Field("bytes", 0, 32, Access.WO, 0x0, False, "Byte 0 in bits 7:0."),
    ), "Salt of the nonce (RFC 4106 section 4)."),
    Register("ipsec_rx.ports", 0x50030, 32, (
        Field("src", 0, 16, Access.RW, 0x1194, False, "Source port."),
        Field("dst", 16, 16, Access.RW, 0x1194, False, "Destination port."),
    ), "UDP ports of NAT-T."),
    Register("ipsec_rx.flow_label", 0x50034, 32, (
        Field("label", 0, 20, Access.RW, 0x0, False, "Flow label."),
    ), "Flow label of an outer IPv6 header."),
    Register("ipsec_rx.limits", 0x50038, 32, (
        Field("mtu", 0, 16, Access.RW, 0x0, False, "Longest packet out in bytes; 0: none but `max_packet`."),
        Field("nat_delta", 16, 16, Access.RW, 0x0, False, "Ones' complement sum of the addresses seen minus that of the original ones (RFC 3948 3.1.2)."),
    ), "MTU of a tx SA, correction of an rx one."),
    Register("ipsec_rx.src", 0x50040, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "32 bits of it."),
    ), "Source address: bits 31:0 first; IPv4 there alone.", 4, 4),
    Register("ipsec_rx.dst", 0x50050, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "32 bits of it."),
    ), "Destination address: bits 31:0 first; IPv4 there alone.", 4, 4),
    Register("ipsec_rx.key", 0x50060, 32, (
        Field("bytes", 0, 32, Access.WO, 0x0, False, "4 bytes of it."),
    ), "Key: byte 0 in bits 7:0 of the first. Reads as 0.", 8, 4),
    Register("ipsec_rx.sequence", 0x50080, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "rx: the highest number so far; tx: the last one used."),
    Register("ipsec_rx.soft_packets", 0x50088, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Packets after which `soft` is set."),
    Register("ipsec_rx.hard_packets", 0x50090, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Most packets."),
    Register("ipsec_rx.soft_bytes", 0x50098, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Bytes after which `soft` is set."),
    Register("ipsec_rx.hard_bytes", 0x500a0, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Most bytes."),
    Register("ipsec_rx.state", 0x500a8, 32, (
        Field("valid", 0, 1, Access.RO, None, True, "There is one."),
        Field("soft", 1, 1, Access.RO, None, True, "A soft lifetime was reached."),
        Field("hard", 2, 1, Access.RO, None, True, "A frame found no room in a hard lifetime."),
        Field("ended", 3, 1, Access.RO, None, True, "A frame found no sequence number."),
    ), "Of the SA that was read last."),
    Register("ipsec_rx.state_packets", 0x500b0, 64, (
        Field("value", 0, 64, Access.RO, None, True, "Of the SA that was read last."),
    ), "Packets that it counted."),
    Register("ipsec_rx.state_bytes", 0x500b8, 64, (
        Field("value", 0, 64, Access.RO, None, True, "Of the SA that was read last."),
    ), "Bytes that its cipher worked on."),
    Register("ipsec_rx.state_sequence", 0x500c0, 64, (
        Field("value", 0, 64, Access.RO, None, True, "Of the SA that was read last."),
    ), "rx: the highest number so far; tx: the last one used."),
    Register("ipsec_rx.frames", 0x50100, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "All frames whose end or passage is known: the sum of `passed`, `secured`, `left_*`, `bad_in` and all codes."),
    Register("ipsec_rx.passed", 0x50108, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with nothing for this block."),
    Register("ipsec_rx.secured", 0x50110, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames decrypted or encrypted."),
    Register("ipsec_rx.left_no_sa", 0x50118, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "ESP left to the host: no SA."),
    Register("ipsec_rx.left_cipher", 0x50120, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "ESP left to the host: another cipher."),
    Register("ipsec_rx.left_fragment", 0x50128, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "ESP left to the host: a fragment."),
    Register("ipsec_rx.bad_in", 0x50130, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames for this block that came in bad."),
    Register("ipsec_rx.replay_late", 0x50138, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Of `ipsec_replay`: after the tag was found good."),
    Register("ipsec_rx.soft_reached", 0x50140, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "SAs that reached a soft lifetime."),
    Register("ipsec_rx.secured_bytes", 0x50148, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Bytes that the cipher worked on, of `secured`."),
    Register("ipsec_rx.ipsec_no_sa", 0x50180, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 56. No SA (SPI, destination, family; tx: the number that the ACL gave)."),
    Register("ipsec_rx.ipsec_cipher", 0x50188, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 57. The SA's cipher is another one, or the engine has no key of it."),
    Register("ipsec_rx.ipsec_fragment", 0x50190, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 58. A fragment: of ESP on rx, for transport mode on tx."),
    Register("ipsec_rx.ipsec_policy", 0x50198, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 59. The frame isn't of the SA's form."),
    Register("ipsec_rx.ipsec_truncated", 0x501a0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 60. Too short for what its headers say."),
    Register("ipsec_rx.ipsec_replay", 0x501a8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 61. Replayed, or left of the window."),
    Register("ipsec_rx.ipsec_lifetime", 0x501b0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 62. A hard lifetime."),
    Register("ipsec_rx.ipsec_bad_tag", 0x501b8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 63. The tag is wrong."),
    Register("ipsec_rx.ipsec_bad_padding", 0x501c0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 64. Length or bytes of the padding are wrong."),
    Register("ipsec_rx.ipsec_dummy", 0x501c8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 65. A dummy packet (next header 59)."),
    Register("ipsec_rx.ipsec_bad_inner", 0x501d0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 66. The packet in the tunnel isn't whole."),
    Register("ipsec_rx.ipsec_ecn", 0x501d8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 67. CE outside, Not-ECT inside."),
    Register("ipsec_rx.ipsec_sequence", 0x501e0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 68. There is no further sequence number."),
    Register("ipsec_rx.ipsec_mtu", 0x501e8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 69. Longer than may be."),
    Register("ipsec_rx.ipsec_bad_checksum", 0x501f0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 70. The outer IPv4 checksum is wrong."),
    Register("ipsec_tx.id", 0x54000, 32, (
        Field("block", 0, 8, Access.RO, 0x5, False, "Block number: 5 is ipsec."),
        Field("version", 8, 8, Access.RO, 0x1, False, "Version of the block."),
        Field("state", 16, 2, Access.RO, 0x3, False, "0 absent, 1 left out, 2 stand-in, 3 present."),
    ), "What stands at this address."),
    Register("ipsec_tx.size", 0x54004, 32, (
        Field("sas", 0, 16, Access.RO, None, True, "SAs."),
        Field("tx", 16, 1, Access.RO, None, True, "1: transmit."),
        Field("sm4", 17, 1, Access.RO, None, True, "1: SM4-GCM too."),
    ), "What the slot was built with."),
    Register("ipsec_tx.control", 0x54008, 32, (
        Field("drop_no_sa", 0, 1, Access.RW, 0x0, False, "No SA is found."),
        Field("drop_cipher", 1, 1, Access.RW, 0x0, False, "The SA's cipher is another one."),
        Field("drop_fragment", 2, 1, Access.RW, 0x0, False, "A fragment."),
    ), "What becomes of received ESP that this block can't decrypt: 0, it passes to the host; 1, it ends here."),
    Register("ipsec_tx.command", 0x5400c, 32, (
        Field("op", 0, 4, Access.RW, 0x0, False, "1 write SA, 2 remove SA, 3 read its state."),
        Field("number", 16, 16, Access.RW, 0x0, False, "Of the SA."),
    ), "A write does something, and is answered when it is done. A number beyond the last and an op that isn't listed do nothing. A read gives what was written last."),
    Register("ipsec_tx.event", 0x54010, 32, (
        Field("valid", 0, 1, Access.W1C, 0x0, True, "There was one. Write 1 to clear."),
        Field("more", 1, 1, Access.W1C, 0x0, True, "Others came since. Write 1 to clear."),
        Field("kind", 4, 2, Access.RO, None, True, "0 soft lifetime, 1 hard lifetime, 2 no further sequence number."),
        Field("sa", 16, 12, Access.RO, None, True, "The SA."),
    ), "The first SA that reached something since `valid` was cleared."),
    Register("ipsec_tx.max_packet", 0x54014, 32, (
        Field("bytes", 0, 16, Access.RW, 0x256e, False, "Bytes, from the outer IP header on."),
    ), "Longest packet that may be transmitted encrypted."),
    Register("ipsec_tx.form", 0x54020, 32, (
        Field("mode", 0, 2, Access.RW, 0x0, False, "0 transport, 1 tunnel, 2 on rx either."),
        Field("natt", 2, 2, Access.RW, 0x0, False, "ESP in UDP: 0 no, 1 yes, 2 on rx either."),
        Field("ipv6", 4, 1, Access.RW, 0x0, False, "Family of `src` and `dst`."),
        Field("esn", 5, 1, Access.RW, 0x0, False, "64-bit sequence numbers."),
        Field("cipher", 6, 2, Access.RW, 0x0, False, "0 AES-128-GCM, 1 AES-256-GCM, 2 SM4-GCM, 3 another one."),
        Field("tag", 8, 2, Access.RW, 0x0, False, "Bytes of the tag: 0, 1, 2 for 8, 12, 16."),
        Field("window", 16, 6, Access.RW, 0x0, False, "Anti-replay window, numbers / 32."),
    ), "Form of an SA."),
    Register("ipsec_tx.outer", 0x54024, 32, (
        Field("dscp", 0, 6, Access.RW, 0x0, False, "DSCP, where `dscp_fixed`."),
        Field("dscp_fixed", 6, 1, Access.RW, 0x0, False, "0: the inner packet's DSCP."),
        Field("ecn_compat", 7, 1, Access.RW, 0x0, False, "1: ECN is 0 (RFC 6040 compatibility mode)."),
        Field("df", 8, 2, Access.RW, 0x0, False, "DF: 0 copied, 1 clear, 2 set."),
        Field("ttl", 16, 8, Access.RW, 0x40, False, "TTL or hop limit; 0: the inner packet's."),
    ), "Outer header of a tunnel."),
    Register("ipsec_tx.spi", 0x54028, 32, (
        Field("value", 0, 32, Access.RW, 0x0, False, "As a number."),
    ), "Security parameters index."),
    Register("ipsec_tx.salt", 0x5402c, 32, (
        Field("bytes", 0, 32, Access.WO, 0x0, False, "Byte 0 in bits 7:0."),
    ), "Salt of the nonce (RFC 4106 section 4)."),
    Register("ipsec_tx.ports", 0x54030, 32, (
        Field("src", 0, 16, Access.RW, 0x1194, False, "Source port."),
        Field("dst", 16, 16, Access.RW, 0x1194, False, "Destination port."),
    ), "UDP ports of NAT-T."),
    Register("ipsec_tx.flow_label", 0x54034, 32, (
        Field("label", 0, 20, Access.RW, 0x0, False, "Flow label."),
    ), "Flow label of an outer IPv6 header."),
    Register("ipsec_tx.limits", 0x54038, 32, (
        Field("mtu", 0, 16, Access.RW, 0x0, False, "Longest packet out in bytes; 0: none but `max_packet`."),
        Field("nat_delta", 16, 16, Access.RW, 0x0, False, "Ones' complement sum of the addresses seen minus that of the original ones (RFC 3948 3.1.2)."),
    ), "MTU of a tx SA, correction of an rx one."),
    Register("ipsec_tx.src", 0x54040, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "32 bits of it."),
    ), "Source address: bits 31:0 first; IPv4 there alone.", 4, 4),
    Register("ipsec_tx.dst", 0x54050, 32, (
        Field("bits", 0, 32, Access.RW, 0x0, False, "32 bits of it."),
    ), "Destination address: bits 31:0 first; IPv4 there alone.", 4, 4),
    Register("ipsec_tx.key", 0x54060, 32, (
        Field("bytes", 0, 32, Access.WO, 0x0, False, "4 bytes of it."),
    ), "Key: byte 0 in bits 7:0 of the first. Reads as 0.", 8, 4),
    Register("ipsec_tx.sequence", 0x54080, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "rx: the highest number so far; tx: the last one used."),
    Register("ipsec_tx.soft_packets", 0x54088, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Packets after which `soft` is set."),
    Register("ipsec_tx.hard_packets", 0x54090, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Most packets."),
    Register("ipsec_tx.soft_bytes", 0x54098, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Bytes after which `soft` is set."),
    Register("ipsec_tx.hard_bytes", 0x540a0, 64, (
        Field("value", 0, 64, Access.RW, 0x0, False, "0: none."),
    ), "Most bytes."),
    Register("ipsec_tx.state", 0x540a8, 32, (
        Field("valid", 0, 1, Access.RO, None, True, "There is one."),
        Field("soft", 1, 1, Access.RO, None, True, "A soft lifetime was reached."),
        Field("hard", 2, 1, Access.RO, None, True, "A frame found no room in a hard lifetime."),
        Field("ended", 3, 1, Access.RO, None, True, "A frame found no sequence number."),
    ), "Of the SA that was read last."),
    Register("ipsec_tx.state_packets", 0x540b0, 64, (
        Field("value", 0, 64, Access.RO, None, True, "Of the SA that was read last."),
    ), "Packets that it counted."),
    Register("ipsec_tx.state_bytes", 0x540b8, 64, (
        Field("value", 0, 64, Access.RO, None, True, "Of the SA that was read last."),
    ), "Bytes that its cipher worked on."),
    Register("ipsec_tx.state_sequence", 0x540c0, 64, (
        Field("value", 0, 64, Access.RO, None, True, "Of the SA that was read last."),
    ), "rx: the highest number so far; tx: the last one used."),
    Register("ipsec_tx.frames", 0x54100, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "All frames whose end or passage is known: the sum of `passed`, `secured`, `left_*`, `bad_in` and all codes."),
    Register("ipsec_tx.passed", 0x54108, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames with nothing for this block."),
    Register("ipsec_tx.secured", 0x54110, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames decrypted or encrypted."),
    Register("ipsec_tx.left_no_sa", 0x54118, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "ESP left to the host: no SA."),
    Register("ipsec_tx.left_cipher", 0x54120, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "ESP left to the host: another cipher."),
    Register("ipsec_tx.left_fragment", 0x54128, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "ESP left to the host: a fragment."),
    Register("ipsec_tx.bad_in", 0x54130, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Frames for this block that came in bad."),
    Register("ipsec_tx.replay_late", 0x54138, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Of `ipsec_replay`: after the tag was found good."),
    Register("ipsec_tx.soft_reached", 0x54140, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "SAs that reached a soft lifetime."),
    Register("ipsec_tx.secured_bytes", 0x54148, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Bytes that the cipher worked on, of `secured`."),
    Register("ipsec_tx.ipsec_no_sa", 0x54180, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 56. No SA (SPI, destination, family; tx: the number that the ACL gave)."),
    Register("ipsec_tx.ipsec_cipher", 0x54188, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 57. The SA's cipher is another one, or the engine has no key of it."),
    Register("ipsec_tx.ipsec_fragment", 0x54190, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 58. A fragment: of ESP on rx, for transport mode on tx."),
    Register("ipsec_tx.ipsec_policy", 0x54198, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 59. The frame isn't of the SA's form."),
    Register("ipsec_tx.ipsec_truncated", 0x541a0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 60. Too short for what its headers say."),
    Register("ipsec_tx.ipsec_replay", 0x541a8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 61. Replayed, or left of the window."),
    Register("ipsec_tx.ipsec_lifetime", 0x541b0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 62. A hard lifetime."),
    Register("ipsec_tx.ipsec_bad_tag", 0x541b8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 63. The tag is wrong."),
    Register("ipsec_tx.ipsec_bad_padding", 0x541c0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 64. Length or bytes of the padding are wrong."),
    Register("ipsec_tx.ipsec_dummy", 0x541c8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 65. A dummy packet (next header 59)."),
    Register("ipsec_tx.ipsec_bad_inner", 0x541d0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 66. The packet in the tunnel isn't whole."),
    Register("ipsec_tx.ipsec_ecn", 0x541d8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 67. CE outside, Not-ECT inside."),
    Register("ipsec_tx.ipsec_sequence", 0x541e0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 68. There is no further sequence number."),
    Register("ipsec_tx.ipsec_mtu", 0x541e8, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 69. Longer than may be."),
    Register("ipsec_tx.ipsec_bad_checksum", 0x541f0, 64, (
        Field("count", 0, 64, Access.RO, 0x0, True, "Wraps at 2**64."),
    ), "Code 70. The outer IPv4 checksum is wrong."),
    Register("tls_rx.id", 0x60000, 32, (
        Field("block", 0, 8, Access.RO, 0x6, False, "Number of the block that belongs here."),
        Field("version", 8, 8, Access.RO, 0x0, False, "Version of the block: 0, as there is none."),
        Field("state", 16, 2, Access.RO, 0x0, False, "0 absent, 1 left out."),
    ), "What stands at this address."),
    Register("tls_tx.id", 0x64000, 32, (
        Field("block", 0, 8, Access.RO, 0x6, False, "Number of the block that belongs here."),
        Field("version", 8, 8, Access.RO, 0x0, False, "Version of the block: 0, as there is none."),
        Field("state", 16, 2, Access.RO, 0x0, False, "0 absent, 1 left out."),
    ), "What stands at this address."),
    Register("roce.id", 0x70000, 32, (
        Field("block", 0, 8, Access.RO, 0x7, False, "Number of the block that belongs here."),
        Field("version", 8, 8, Access.RO, 0x0, False, "Version of the block: 0, as there is none."),
        Field("state", 16, 2, Access.RO, 0x0, False, "0 absent, 1 left out."),
    ), "What stands at this address."),
    Register("roce_icrc.id", 0x78000, 32, (
        Field("block", 0, 8, Access.RO, 0x7, False, "Number of the block that belongs here."),
        Field("version", 8, 8, Access.RO, 0x0, False, "Version of the block: 0, as there is none."),
        Field("state", 16, 2, Access.RO, 0x0, False, "0 absent, 1 left out."),
    ), "What stands at this address."),
))
