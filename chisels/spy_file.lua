-- SPDX-License-Identifier: Apache-2.0
description = "Prints each read and write of files, or of one file, with its data."
short_description = "Print what is read from and written to files"
category = "I/O"

local report = require "report"

local dirs = {R = " and evt.is_io_read=true", W = " and evt.is_io_write=true", RW = ""}

local function quoted(name) return '"' .. name:gsub('[\\"]', "\\%0") .. '"' end

require "payload" {
  empty = true,
  args = {
    {name = "read_or_write", default = "RW", check = report.one_of {"R", "W", "RW"},
     description = "R for reads, W for writes, RW for both (RW)"},
    {name = "spy_on_file_name", optional = true, description = "only this file, by its full path"},
  },
  filter = function(arg)
    local name = arg.spy_on_file_name
    return (name and "fd.name=" .. quoted(name) or report.real_files) .. dirs[arg.read_or_write]
  end,
}
