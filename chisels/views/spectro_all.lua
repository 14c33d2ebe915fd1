-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "spectro_all",
  name = "Spectrogram",
  description = "How long calls take, over time, as a heat map: the brighter a cell, the more calls.",
  tips = {"Select cells with the mouse, or with the arrow keys and m, and press Enter to see their calls.",
    "Calls that wait for something, as poll does, are on the right: the filter evt.is_wait=false leaves them out."},
  tags = {"Default", "wsysdig"},
  view_type = "spectrogram",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.nametid", "thread.tid", "evt.type", "evt.res", "evt.cpu",
    "fd.name", "fd.containername", "fd.directory", "fd.containerdirectory", "fd.sport", "fd.sproto", "fd.type", "user.name"},
  filter = "evt.dir=<",
  columns = {
    {name = "NA", field = "evt.latency.quantized", is_key = true},
    {name = "LATENCY", field = "evt.latency.quantized", description = "How long the call took."},
    {name = "COUNT", field = "evt.count", description = "Calls.", aggregation = "SUM", colsize = 8},
  },
}
