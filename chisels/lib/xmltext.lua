-- SPDX-License-Identifier: Apache-2.0
-- Makes captured text safe inside XML: require "xmltext"(TEXT). Names can have any bytes, and XML cannot hold some of
-- them even as references.
local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

return function(text)
  text = text:gsub("[%z\1-\8\11-\31\127]", "."):gsub('[&<>"]', entities)
  if not utf8.len(text) then return (text:gsub("[\128-\255]", "?")) end
  return (text:gsub("\xC2[\x80-\x9F]", "."):gsub("\xEF\xBF[\xBE\xBF]", "."))
end
