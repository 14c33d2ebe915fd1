/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the events of TCP, in the order of their rows in events.def. */
#ifndef SINSP_FIELDS_TCP_PARAMS_H
#define SINSP_FIELDS_TCP_PARAMS_H

enum tcp_param {
	TCP_P_TUPLE,
	TCP_P_ROLE,
	TCP_P_PID,
	TCP_P_COMM,
	TCP_P_STATE,
	TCP_P_SRTT,
	TCP_P_RTTVAR,
	TCP_P_CWND,
	TCP_P_RETRANS,
	TCP_P_BYTES_OUT,
	TCP_P_BYTES_IN,
	TCP_P_OWN, /* the first one of the event itself */
};

#endif /* SINSP_FIELDS_TCP_PARAMS_H */
