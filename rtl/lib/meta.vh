// Generated from models/meta.py by `make generate`: do not edit.
`ifndef NICLOOP_META_VH
`define NICLOOP_META_VH
`define META_W 1504
// sequence number of the frame at its port and direction; writer: nic_ingress
`define MF_SEQ 15:0
`define MF_SEQ_LSB 0
`define MF_SEQ_W 16
// port at which the frame came in; writer: nic_ingress
`define MF_PORT 23:16
`define MF_PORT_LSB 16
`define MF_PORT_W 8
// 0 received, 1 to be transmitted; writer: nic_ingress
`define MF_DIRECTION 24:24
`define MF_DIRECTION_LSB 24
`define MF_DIRECTION_W 1
// priority class, set once from the outermost headers (0 until parser lands); writer: nic_ingress
`define MF_TCLASS 27:25
`define MF_TCLASS_LSB 25
`define MF_TCLASS_W 3
// host queue; acl may set another; writer: nic_ingress
`define MF_QUEUE 35:28
`define MF_QUEUE_LSB 28
`define MF_QUEUE_W 8
// `now` in ns at the frame's first beat; where it came by XGMII, at its start there, as nic_slot_mac_rx tells; writer: nic_ingress
`define MF_TIMESTAMP 99:36
`define MF_TIMESTAMP_LSB 36
`define MF_TIMESTAMP_W 64
// why the header chain ended early (a Code), 0 where it ended well; writer: parser
`define MF_PARSE_CODE 106:100
`define MF_PARSE_CODE_LSB 100
`define MF_PARSE_CODE_W 7
// destination address; writer: parser
`define MF_DST_MAC 154:107
`define MF_DST_MAC_LSB 107
`define MF_DST_MAC_W 48
// source address; writer: parser
`define MF_SRC_MAC 202:155
`define MF_SRC_MAC_LSB 155
`define MF_SRC_MAC_W 48
// EtherType behind the tags, or a length below 0x0600; writer: parser
`define MF_ETHERTYPE 218:203
`define MF_ETHERTYPE_LSB 203
`define MF_ETHERTYPE_W 16
// VLAN tags: 0, 1, 2; writer: parser
`define MF_VLAN_COUNT 220:219
`define MF_VLAN_COUNT_LSB 219
`define MF_VLAN_COUNT_W 2
// TCI of the outer tag: PCP 15:13, DEI 12, VID 11:0; writer: parser
`define MF_VLAN0 236:221
`define MF_VLAN0_LSB 221
`define MF_VLAN0_W 16
// TCI of the inner tag; writer: parser
`define MF_VLAN1 252:237
`define MF_VLAN1_LSB 237
`define MF_VLAN1_W 16
// the outer tag is an 802.1ad service tag; writer: parser
`define MF_VLAN0_AD 253:253
`define MF_VLAN0_AD_LSB 253
`define MF_VLAN0_AD_W 1
// the inner tag is an 802.1ad service tag; writer: parser
`define MF_VLAN1_AD 254:254
`define MF_VLAN1_AD_LSB 254
`define MF_VLAN1_AD_W 1
// a MAC control frame (802.3 clause 31); writer: parser
`define MF_MAC_CONTROL 255:255
`define MF_MAC_CONTROL_LSB 255
`define MF_MAC_CONTROL_W 1
// its opcode; writer: parser
`define MF_MAC_OPCODE 271:256
`define MF_MAC_OPCODE_LSB 256
`define MF_MAC_OPCODE_W 16
// 0 none, 1 IPv4, 2 IPv6; writer: parser
`define MF_L3_KIND 273:272
`define MF_L3_KIND_LSB 272
`define MF_L3_KIND_W 2
// first byte of the IP header; writer: parser
`define MF_L3_OFFSET 281:274
`define MF_L3_OFFSET_LSB 274
`define MF_L3_OFFSET_W 8
// bytes of the IP packet by its own length field; writer: parser
`define MF_L3_LENGTH 298:282
`define MF_L3_LENGTH_LSB 282
`define MF_L3_LENGTH_W 17
// first byte behind the IP header, its options and the extension headers that were read; writer: parser
`define MF_L3_PAYLOAD_OFFSET 307:299
`define MF_L3_PAYLOAD_OFFSET_LSB 299
`define MF_L3_PAYLOAD_OFFSET_W 9
// source address; IPv4 in the low 32 bits; writer: parser
`define MF_IP_SRC 435:308
`define MF_IP_SRC_LSB 308
`define MF_IP_SRC_W 128
// destination address; IPv4 in the low 32 bits; writer: parser
`define MF_IP_DST 563:436
`define MF_IP_DST_LSB 436
`define MF_IP_DST_W 128
// differentiated services code point (RFC 2474); writer: parser
`define MF_DSCP 569:564
`define MF_DSCP_LSB 564
`define MF_DSCP_W 6
// explicit congestion notification (RFC 3168); writer: parser
`define MF_ECN 571:570
`define MF_ECN_LSB 570
`define MF_ECN_W 2
// time to live, hop limit; writer: parser
`define MF_TTL 579:572
`define MF_TTL_LSB 572
`define MF_TTL_W 8
// last protocol or next-header value that was read; writer: parser
`define MF_PROTOCOL 587:580
`define MF_PROTOCOL_LSB 580
`define MF_PROTOCOL_W 8
// the byte that protocol was read from; writer: parser
`define MF_PROTOCOL_OFFSET 595:588
`define MF_PROTOCOL_OFFSET_LSB 588
`define MF_PROTOCOL_OFFSET_W 8
// IPv4 header checksum: 0 none, 1 good, 2 bad; writer: parser
`define MF_IP_CHECKSUM 597:596
`define MF_IP_CHECKSUM_LSB 596
`define MF_IP_CHECKSUM_W 2
// the IPv4 header has options; writer: parser
`define MF_IP_OPTIONS 598:598
`define MF_IP_OPTIONS_LSB 598
`define MF_IP_OPTIONS_W 1
// extension headers seen: 0 hop-by-hop, 1 routing, 2 fragment, 3 destination, 4 AH; writer: parser
`define MF_EXT_MASK 603:599
`define MF_EXT_MASK_LSB 599
`define MF_EXT_MASK_W 5
// a routing header has segments left (RFC 8200 4.4); writer: parser
`define MF_SEGMENTS_LEFT 604:604
`define MF_SEGMENTS_LEFT_LSB 604
`define MF_SEGMENTS_LEFT_W 1
// part of a fragmented packet; writer: parser
`define MF_FRAGMENT 605:605
`define MF_FRAGMENT_LSB 605
`define MF_FRAGMENT_W 1
// MF; writer: parser
`define MF_MORE_FRAGMENTS 606:606
`define MF_MORE_FRAGMENTS_LSB 606
`define MF_MORE_FRAGMENTS_W 1
// DF; writer: parser
`define MF_DONT_FRAGMENT 607:607
`define MF_DONT_FRAGMENT_LSB 607
`define MF_DONT_FRAGMENT_W 1
// fragment offset in units of 8 bytes; writer: parser
`define MF_FRAG_OFFSET 620:608
`define MF_FRAG_OFFSET_LSB 608
`define MF_FRAG_OFFSET_W 13
// 0 none, 1 TCP, 2 UDP, 3 ICMP, 4 ICMPv6, 5 ESP; writer: parser
`define MF_L4_KIND 623:621
`define MF_L4_KIND_LSB 621
`define MF_L4_KIND_W 3
// first byte of the L4 header; writer: parser
`define MF_L4_OFFSET 631:624
`define MF_L4_OFFSET_LSB 624
`define MF_L4_OFFSET_W 8
// first byte behind the last header that was read (L4 and above); writer: parser
`define MF_PAYLOAD_OFFSET 640:632
`define MF_PAYLOAD_OFFSET_LSB 632
`define MF_PAYLOAD_OFFSET_W 9
// source port; writer: parser
`define MF_SRC_PORT 656:641
`define MF_SRC_PORT_LSB 641
`define MF_SRC_PORT_W 16
// destination port; writer: parser
`define MF_DST_PORT 672:657
`define MF_DST_PORT_LSB 657
`define MF_DST_PORT_W 16
// UDP length field; writer: parser
`define MF_UDP_LENGTH 688:673
`define MF_UDP_LENGTH_LSB 673
`define MF_UDP_LENGTH_W 16
// TCP reserved bits and flags, FIN lowest; of the innermost L4; writer: parser
`define MF_TCP_FLAGS 700:689
`define MF_TCP_FLAGS_LSB 689
`define MF_TCP_FLAGS_W 12
// ICMP or ICMPv6 type; of the innermost L4; writer: parser
`define MF_ICMP_TYPE 708:701
`define MF_ICMP_TYPE_LSB 701
`define MF_ICMP_TYPE_W 8
// ICMP or ICMPv6 code; of the innermost L4; writer: parser
`define MF_ICMP_CODE 716:709
`define MF_ICMP_CODE_LSB 709
`define MF_ICMP_CODE_W 8
// UDP port 4500 (RFC 3948): 0 none, 1 ESP, 2 IKE, 3 keepalive; writer: parser
`define MF_NATT 718:717
`define MF_NATT_LSB 717
`define MF_NATT_W 2
// ESP security parameters index; of the innermost L4; writer: parser
`define MF_SPI 750:719
`define MF_SPI_LSB 719
`define MF_SPI_W 32
// ESP sequence number, low half; of the innermost L4; writer: parser
`define MF_ESP_SEQ 782:751
`define MF_ESP_SEQ_LSB 751
`define MF_ESP_SEQ_W 32
// a BTH was read (UDP port 4791); writer: parser
`define MF_ROCE 783:783
`define MF_ROCE_LSB 783
`define MF_ROCE_W 1
// BTH opcode; writer: parser
`define MF_BTH_OPCODE 791:784
`define MF_BTH_OPCODE_LSB 784
`define MF_BTH_OPCODE_W 8
// BTH byte 1: SE, M, pad count, TVer; writer: parser
`define MF_BTH_FLAGS 799:792
`define MF_BTH_FLAGS_LSB 792
`define MF_BTH_FLAGS_W 8
// P_Key; writer: parser
`define MF_BTH_PKEY 815:800
`define MF_BTH_PKEY_LSB 800
`define MF_BTH_PKEY_W 16
// FECN; writer: parser
`define MF_BTH_FECN 816:816
`define MF_BTH_FECN_LSB 816
`define MF_BTH_FECN_W 1
// BECN; writer: parser
`define MF_BTH_BECN 817:817
`define MF_BTH_BECN_LSB 817
`define MF_BTH_BECN_W 1
// destination QP; writer: parser
`define MF_BTH_DEST_QP 841:818
`define MF_BTH_DEST_QP_LSB 818
`define MF_BTH_DEST_QP_W 24
// AckReq; writer: parser
`define MF_BTH_ACK_REQ 842:842
`define MF_BTH_ACK_REQ_LSB 842
`define MF_BTH_ACK_REQ_W 1
// PSN; writer: parser
`define MF_BTH_PSN 866:843
`define MF_BTH_PSN_LSB 843
`define MF_BTH_PSN_W 24
// 0 none, 1 VXLAN (RFC 7348), 2 GENEVE (RFC 8926); writer: parser
`define MF_TUNNEL_KIND 868:867
`define MF_TUNNEL_KIND_LSB 867
`define MF_TUNNEL_KIND_W 2
// VXLAN byte 0 (I is bit 3), GENEVE byte 1 (O bit 7, C bit 6); writer: parser
`define MF_TUNNEL_FLAGS 876:869
`define MF_TUNNEL_FLAGS_LSB 869
`define MF_TUNNEL_FLAGS_W 8
// virtual network identifier; writer: parser
`define MF_VNI 900:877
`define MF_VNI_LSB 877
`define MF_VNI_W 24
// destination address in the tunnel; writer: parser
`define MF_INNER_DST_MAC 948:901
`define MF_INNER_DST_MAC_LSB 901
`define MF_INNER_DST_MAC_W 48
// source address in the tunnel; writer: parser
`define MF_INNER_SRC_MAC 996:949
`define MF_INNER_SRC_MAC_LSB 949
`define MF_INNER_SRC_MAC_W 48
// EtherType behind the tags in the tunnel, or GENEVE's protocol; writer: parser
`define MF_INNER_ETHERTYPE 1012:997
`define MF_INNER_ETHERTYPE_LSB 997
`define MF_INNER_ETHERTYPE_W 16
// VLAN tags in the tunnel: 0, 1, 2; writer: parser
`define MF_INNER_VLAN_COUNT 1014:1013
`define MF_INNER_VLAN_COUNT_LSB 1013
`define MF_INNER_VLAN_COUNT_W 2
// TCI of the outer tag in the tunnel; writer: parser
`define MF_INNER_VLAN0 1030:1015
`define MF_INNER_VLAN0_LSB 1015
`define MF_INNER_VLAN0_W 16
// TCI of the inner tag in the tunnel; writer: parser
`define MF_INNER_VLAN1 1046:1031
`define MF_INNER_VLAN1_LSB 1031
`define MF_INNER_VLAN1_W 16
// the outer tag in the tunnel is an 802.1ad service tag; writer: parser
`define MF_INNER_VLAN0_AD 1047:1047
`define MF_INNER_VLAN0_AD_LSB 1047
`define MF_INNER_VLAN0_AD_W 1
// the inner tag in the tunnel is an 802.1ad service tag; writer: parser
`define MF_INNER_VLAN1_AD 1048:1048
`define MF_INNER_VLAN1_AD_LSB 1048
`define MF_INNER_VLAN1_AD_W 1
// 0 none, 1 IPv4, 2 IPv6 in the tunnel; writer: parser
`define MF_INNER_L3_KIND 1050:1049
`define MF_INNER_L3_KIND_LSB 1049
`define MF_INNER_L3_KIND_W 2
// first byte of the IP header in the tunnel, from the frame's start; writer: parser
`define MF_INNER_L3_OFFSET 1058:1051
`define MF_INNER_L3_OFFSET_LSB 1051
`define MF_INNER_L3_OFFSET_W 8
// bytes of the IP packet in the tunnel by its own length field; writer: parser
`define MF_INNER_L3_LENGTH 1075:1059
`define MF_INNER_L3_LENGTH_LSB 1059
`define MF_INNER_L3_LENGTH_W 17
// source address in the tunnel; IPv4 in the low 32 bits; writer: parser
`define MF_INNER_IP_SRC 1203:1076
`define MF_INNER_IP_SRC_LSB 1076
`define MF_INNER_IP_SRC_W 128
// destination address in the tunnel; IPv4 in the low 32 bits; writer: parser
`define MF_INNER_IP_DST 1331:1204
`define MF_INNER_IP_DST_LSB 1204
`define MF_INNER_IP_DST_W 128
// DSCP in the tunnel; writer: parser
`define MF_INNER_DSCP 1337:1332
`define MF_INNER_DSCP_LSB 1332
`define MF_INNER_DSCP_W 6
// ECN in the tunnel; writer: parser
`define MF_INNER_ECN 1339:1338
`define MF_INNER_ECN_LSB 1338
`define MF_INNER_ECN_W 2
// time to live, hop limit in the tunnel; writer: parser
`define MF_INNER_TTL 1347:1340
`define MF_INNER_TTL_LSB 1340
`define MF_INNER_TTL_W 8
// last protocol or next-header value that was read in the tunnel; writer: parser
`define MF_INNER_PROTOCOL 1355:1348
`define MF_INNER_PROTOCOL_LSB 1348
`define MF_INNER_PROTOCOL_W 8
// IPv4 header checksum in the tunnel: 0 none, 1 good, 2 bad; writer: parser
`define MF_INNER_IP_CHECKSUM 1357:1356
`define MF_INNER_IP_CHECKSUM_LSB 1356
`define MF_INNER_IP_CHECKSUM_W 2
// the IPv4 header in the tunnel has options; writer: parser
`define MF_INNER_IP_OPTIONS 1358:1358
`define MF_INNER_IP_OPTIONS_LSB 1358
`define MF_INNER_IP_OPTIONS_W 1
// extension headers in the tunnel, as in ext_mask; writer: parser
`define MF_INNER_EXT_MASK 1363:1359
`define MF_INNER_EXT_MASK_LSB 1359
`define MF_INNER_EXT_MASK_W 5
// the packet in the tunnel is part of a fragmented one; writer: parser
`define MF_INNER_FRAGMENT 1364:1364
`define MF_INNER_FRAGMENT_LSB 1364
`define MF_INNER_FRAGMENT_W 1
// MF in the tunnel; writer: parser
`define MF_INNER_MORE_FRAGMENTS 1365:1365
`define MF_INNER_MORE_FRAGMENTS_LSB 1365
`define MF_INNER_MORE_FRAGMENTS_W 1
// DF in the tunnel; writer: parser
`define MF_INNER_DONT_FRAGMENT 1366:1366
`define MF_INNER_DONT_FRAGMENT_LSB 1366
`define MF_INNER_DONT_FRAGMENT_W 1
// fragment offset in the tunnel in units of 8 bytes; writer: parser
`define MF_INNER_FRAG_OFFSET 1379:1367
`define MF_INNER_FRAG_OFFSET_LSB 1367
`define MF_INNER_FRAG_OFFSET_W 13
// 0 none, 1 TCP, 2 UDP, 3 ICMP, 4 ICMPv6, 5 ESP in the tunnel; writer: parser
`define MF_INNER_L4_KIND 1382:1380
`define MF_INNER_L4_KIND_LSB 1380
`define MF_INNER_L4_KIND_W 3
// first byte of the L4 header in the tunnel, from the frame's start; writer: parser
`define MF_INNER_L4_OFFSET 1390:1383
`define MF_INNER_L4_OFFSET_LSB 1383
`define MF_INNER_L4_OFFSET_W 8
// source port in the tunnel; writer: parser
`define MF_INNER_SRC_PORT 1406:1391
`define MF_INNER_SRC_PORT_LSB 1391
`define MF_INNER_SRC_PORT_W 16
// destination port in the tunnel; writer: parser
`define MF_INNER_DST_PORT 1422:1407
`define MF_INNER_DST_PORT_LSB 1407
`define MF_INNER_DST_PORT_W 16
// UDP length field in the tunnel; writer: parser
`define MF_INNER_UDP_LENGTH 1438:1423
`define MF_INNER_UDP_LENGTH_LSB 1423
`define MF_INNER_UDP_LENGTH_W 16
// ipsec decrypted the frame; writer: ipsec
`define MF_DECRYPTED 1439:1439
`define MF_DECRYPTED_LSB 1439
`define MF_DECRYPTED_W 1
// with this security association; writer: ipsec
`define MF_SA 1451:1440
`define MF_SA_LSB 1440
`define MF_SA_W 12
// number of the ACL rule that matched, 65535: none; writer: acl
`define MF_ACL_RULE 1467:1452
`define MF_ACL_RULE_LSB 1452
`define MF_ACL_RULE_W 16
// a mirror's copy: it reports no disposition; writer: acl
`define MF_ACL_COPY 1468:1468
`define MF_ACL_COPY_LSB 1468
`define MF_ACL_COPY_W 1
// leaves by the other direction; writer: acl
`define MF_ACL_REDIRECT 1469:1469
`define MF_ACL_REDIRECT_LSB 1469
`define MF_ACL_REDIRECT_W 1
// scheduling class; writer: acl
`define MF_ACL_PRIORITY 1472:1470
`define MF_ACL_PRIORITY_LSB 1470
`define MF_ACL_PRIORITY_W 3
// to be protected with acl_sa; writer: acl
`define MF_ACL_PROTECT 1473:1473
`define MF_ACL_PROTECT_LSB 1473
`define MF_ACL_PROTECT_W 1
// security association; writer: acl
`define MF_ACL_SA 1485:1474
`define MF_ACL_SA_LSB 1474
`define MF_ACL_SA_W 12
`define CODE_NONE 8'd0
`define CODE_DELIVERED 8'd1
`define CODE_CONSUMED 8'd2
`define CODE_BAD_FRAME 8'd16
`define CODE_OVERSIZE 8'd17
`define CODE_PORT_DISABLED 8'd18
`define CODE_RX_BUFFER_FULL 8'd19
`define CODE_RESET 8'd20
`define CODE_MAC_OVERFLOW 8'd21
`define CODE_BAD_FCS 8'd22
`define CODE_RUNT 8'd23
`define CODE_RX_ERROR 8'd24
`define CODE_MAC_UNDERRUN 8'd25
`define CODE_LINK_FAULT 8'd26
`define CODE_MAC_RESET 8'd27
`define CODE_L2_TRUNCATED 8'd32
`define CODE_L3_TRUNCATED 8'd33
`define CODE_BAD_IP_VERSION 8'd34
`define CODE_BAD_IHL 8'd35
`define CODE_BAD_L3_LENGTH 8'd36
`define CODE_TOO_DEEP 8'd37
`define CODE_EXT_TRUNCATED 8'd38
`define CODE_L4_TRUNCATED 8'd39
`define CODE_BAD_TCP_OFFSET 8'd40
`define CODE_BAD_UDP_LENGTH 8'd41
`define CODE_BTH_TRUNCATED 8'd42
`define CODE_ESP_TRUNCATED 8'd43
`define CODE_L3_BEYOND_FRAME 8'd44
`define CODE_TUNNEL_TRUNCATED 8'd45
`define CODE_BAD_TUNNEL 8'd46
`define CODE_ACL_DENIED 8'd48
`define CODE_ACL_POLICED 8'd49
`define CODE_ACL_NO_PORT 8'd50
`define CODE_IPSEC_NO_SA 8'd56
`define CODE_IPSEC_CIPHER 8'd57
`define CODE_IPSEC_FRAGMENT 8'd58
`define CODE_IPSEC_POLICY 8'd59
`define CODE_IPSEC_TRUNCATED 8'd60
`define CODE_IPSEC_REPLAY 8'd61
`define CODE_IPSEC_LIFETIME 8'd62
`define CODE_IPSEC_BAD_TAG 8'd63
`define CODE_IPSEC_BAD_PADDING 8'd64
`define CODE_IPSEC_DUMMY 8'd65
`define CODE_IPSEC_BAD_INNER 8'd66
`define CODE_IPSEC_ECN 8'd67
`define CODE_IPSEC_SEQUENCE 8'd68
`define CODE_IPSEC_MTU 8'd69
`define CODE_IPSEC_BAD_CHECKSUM 8'd70
`endif
