// SPDX-License-Identifier: Apache-2.0
// Decodes requests of OTLP with the messages of @opentelemetry/otlp-transformer: node decode.js ROOT.js < LINES. A line
// is SIGNAL and a body in base64; the answer is a line of JSON each.
"use strict";
const fs = require("fs");
const root = require(process.argv[2]).opentelemetry.proto.collector;
const kinds = {
  traces: root.trace.v1.ExportTraceServiceRequest,
  metrics: root.metrics.v1.ExportMetricsServiceRequest,
  logs: root.logs.v1.ExportLogsServiceRequest,
};
Buffer.prototype.toJSON = function () { return this.toString("hex"); };
for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [signal, body] = line.split(" ");
  const kind = kinds[signal];
  const object = kind.toObject(kind.decode(Buffer.from(body, "base64")), { longs: String });
  console.log(JSON.stringify(object));
}
