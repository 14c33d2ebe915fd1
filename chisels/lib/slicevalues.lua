-- SPDX-License-Identifier: Apache-2.0
-- The values that waits, runqueue and locks count of slices: require "slicevalues"(TITLE), with the title of
-- the column for how many, as toplist takes them.
return function(title)
  return {
    {"TIME", name = "ns", kind = "time", field = "thread.slice.ns"},
    {title, name = title:lower(), count = true},
    {"LONGEST", name = "longest", kind = "time", field = "thread.slice.ns", max = true},
  }
end
