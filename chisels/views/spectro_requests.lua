-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "spectro_requests",
  name = "Spectrogram of Requests",
  description = "How long requests take, over time, as a heat map: the brighter a cell, the more requests.",
  tips = {"Select cells with the mouse, or with the arrow keys and m, and press Enter to see their requests."},
  tags = {"Default"},
  view_type = "spectrogram",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid", "fd.name", "fd.sport", "request.operation",
    "user.name"},
  filter = "evt.type=request and request.kind=request",
  columns = {
    {name = "NA", field = "request.latency", is_key = true},
    {name = "LATENCY", field = "request.latency", description = "How long the request took."},
    {name = "COUNT", field = "evt.count", description = "Requests.", aggregation = "SUM", colsize = 8},
  },
}
