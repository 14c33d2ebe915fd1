/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Behind a reading of events.def or syscalls.def: what the rows stood for is over. No guard: each
 * reading ends so. */
#undef EVT
#undef P
#undef PX
#undef PR
#undef PL
#undef O
#undef OX
#undef OL
#undef SYS
#undef A
#undef AX
#undef AF
#undef AXF
#undef AE
