-- SPDX-License-Identifier: Apache-2.0
description = "Counts bytes read and written by any filter field: fd.directory, fd.sport, proc.name, user.name, container.name, ..."
short_description = "Bytes of I/O by a field of your choice"
category = "I/O"

require "toplist" {
  args = {{name = "key", check = require "report".field, description = "the field to count by, such as fd.directory"}},
  filter = "evt.io.bytes>0",
  keys = {{function(arg) return arg.key:upper() end, function(arg) return arg.key end}},
  values = require "iovalues"("READ", "WRITTEN"),
}
