-- SPDX-License-Identifier: Apache-2.0
description = "Shows the containers with the most failed syscalls. Processes outside of containers do not count."
short_description = "Top containers by number of failed syscalls"
category = "Errors"

require "toplist" {
  no_container = true,
  filter = "evt.failed=true and container.id!=host",
  keys = {require "report".container_key},
  values = {
    {"ERRORS", name = "errors", count = true},
    {"FILE", name = "file", field = "evt.count.error.file"},
    {"NET", name = "net", field = "evt.count.error.net"},
    {"MEMORY", name = "memory", field = "evt.count.error.memory"},
    {"OTHER", name = "other", field = "evt.count.error.other"},
  },
}
