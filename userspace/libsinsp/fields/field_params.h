/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields that are parameters of one type of event. */
#ifndef SINSP_FIELDS_FIELD_PARAMS_H
#define SINSP_FIELDS_FIELD_PARAMS_H

#include "field.h"

/* Returns the parameter @at of an event of @type; NULL: unknown, or another event. */
const struct scap_param *field_param(const struct sinsp_evt *evt, unsigned int type,
				     unsigned int at);

/* Each sets the value of the parameter, NULL: none. Getters return the result. */

/* Sets a number of 1, 4 or 8 bytes. */
int field_param_number(struct sinsp_value *v, const struct scap_param *p);
int field_param_text(struct sinsp_value *v, const struct scap_param *p);
/* Sets the name that a number of one byte has in the flags table of parameter @at of @type. */
int field_param_name(struct sinsp_value *v, const struct scap_param *p, unsigned int type,
		     unsigned int at);
/* Sets the name of a system call, whose number has SAMPLE_CALL_IA32 for a 32-bit call. */
int field_param_call(struct sinsp_value *v, const struct scap_param *p);

#endif /* SINSP_FIELDS_FIELD_PARAMS_H */
