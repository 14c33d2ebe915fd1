-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "spectro_file",
  name = "Spectrogram of Files",
  description = "How long calls on files take, over time, as a heat map: the brighter a cell, the more calls.",
  tips = {"Select cells with the mouse, or with the arrow keys and m, and press Enter to see their calls."},
  tags = {"Default", "wsysdig"},
  view_type = "spectrogram",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.nametid", "thread.tid", "evt.res", "evt.cpu",
    "fd.name", "fd.containername", "fd.directory", "fd.containerdirectory", "fd.sport", "fd.sproto", "fd.type", "user.name"},
  filter = "evt.dir=< and fd.type=file",
  columns = {
    {name = "NA", field = "evt.latency.quantized", is_key = true},
    {name = "LATENCY", field = "evt.latency.quantized", description = "How long the call took."},
    {name = "COUNT", field = "evt.count", description = "Calls.", aggregation = "SUM", colsize = 8},
  },
}
