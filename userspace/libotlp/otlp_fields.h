/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the fields of OTLP, as opentelemetry-proto 1.5.0 publishes them (opentelemetry/proto:
 * common/v1, resource/v1, metrics/v1, trace/v1, logs/v1, collector). Those of these packages are
 * stable: later versions only add fields.
 */
#ifndef OTLP_FIELDS_H
#define OTLP_FIELDS_H

/* common/v1 */
enum { ANY_STRING = 1, ANY_BOOL = 2, ANY_INT = 3, ANY_DOUBLE = 4 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
/* resource/v1 */
enum { RESOURCE_ATTRIBUTES = 1 };

/* The same in each signal: Export*ServiceRequest, Resource{Spans,Metrics,Logs}, Scope* */
enum { EXPORT_RESOURCES = 1 };
enum { RESOURCES_RESOURCE = 1, RESOURCES_SCOPES = 2 };
enum { SCOPES_SCOPE = 1, SCOPES_ITEMS = 2 };
/* Export*ServiceResponse, Export*PartialSuccess */
enum { RESPONSE_PARTIAL_SUCCESS = 1 };
enum { PARTIAL_SUCCESS_REJECTED = 1, PARTIAL_SUCCESS_MESSAGE = 2 };

/* metrics/v1 */
enum {
	OTLP_METRIC_NAME = 1,
	OTLP_METRIC_DESCRIPTION = 2,
	OTLP_METRIC_UNIT = 3,
	OTLP_METRIC_GAUGE = 5,
	OTLP_METRIC_SUM = 7,
	OTLP_METRIC_HISTOGRAM = 9,
};
/* Gauge, Sum, Histogram */
enum { DATA_POINTS = 1, DATA_TEMPORALITY = 2, DATA_MONOTONIC = 3 };
enum { TEMPORALITY_CUMULATIVE = 2 };
enum {
	NUMBER_START = 2,
	NUMBER_TIME = 3,
	NUMBER_DOUBLE = 4,
	NUMBER_INT = 6,
	NUMBER_ATTRIBUTES = 7,
};
enum {
	HISTOGRAM_START = 2,
	HISTOGRAM_TIME = 3,
	HISTOGRAM_COUNT = 4,
	HISTOGRAM_SUM = 5,
	HISTOGRAM_BUCKETS = 6,
	HISTOGRAM_BOUNDS = 7,
	HISTOGRAM_EXEMPLARS = 8,
	HISTOGRAM_ATTRIBUTES = 9,
};
enum { EXEMPLAR_TIME = 2, EXEMPLAR_DOUBLE = 3, EXEMPLAR_TRACE_ID = 5 };

/* trace/v1 */
enum {
	SPAN_TRACE_ID = 1,
	SPAN_ID = 2,
	SPAN_PARENT_ID = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	SPAN_LINKS = 13,
	SPAN_STATUS = 15,
};
enum span_kind {
	SPAN_KIND_SERVER = 2,
	SPAN_KIND_CLIENT = 3,
	SPAN_KIND_PRODUCER = 4,
	SPAN_KIND_CONSUMER = 5,
};
enum { SPAN_LINK_TRACE_ID = 1, SPAN_LINK_ID = 2 };
enum { SPAN_STATUS_MESSAGE = 2, SPAN_STATUS_CODE = 3 };
enum { SPAN_STATUS_ERROR = 2 };

/* logs/v1 */
enum {
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTES = 6,
	LOG_OBSERVED_TIME = 11,
	LOG_EVENT_NAME = 12,
};
enum { SEVERITY_INFO = 9, SEVERITY_WARN = 13 };

#endif /* OTLP_FIELDS_H */
