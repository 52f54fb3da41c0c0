// Generated from models/meta.py by `make generate`: do not edit.
`ifndef NICLOOP_META_VH
`define NICLOOP_META_VH
`define META_W 128
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
// host queue; writer: nic_ingress
`define MF_QUEUE 35:28
`define MF_QUEUE_LSB 28
`define MF_QUEUE_W 8
// `now` in ns at the frame's first beat; writer: nic_ingress
`define MF_TIMESTAMP 99:36
`define MF_TIMESTAMP_LSB 36
`define MF_TIMESTAMP_W 64
`define CODE_NONE 8'd0
`define CODE_DELIVERED 8'd1
`define CODE_CONSUMED 8'd2
`define CODE_BAD_FRAME 8'd16
`define CODE_OVERSIZE 8'd17
`define CODE_PORT_DISABLED 8'd18
`define CODE_RX_BUFFER_FULL 8'd19
`define CODE_RESET 8'd20
`endif
