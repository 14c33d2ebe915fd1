-- SPDX-License-Identifier: Apache-2.0
-- Numbers stacks such that those with the same outer frames share them: require "stacktree"(TEXT_OF) returns
-- {texts, frames, parents, number}. A stack is a list of frames, outermost first. number(FRAMES, KIND) returns the number
-- of its innermost frame, or nil if there is none. Stack N has the text texts[frames[N + 1] + 1], and is called by
-- stack parents[N + 1], -1 for none. TEXT_OF(frame, KIND) returns the text of a frame.
return function(text_of)
  local texts, frames, parents = {}, {}, {}
  local number_of_text, children = {}, {} -- children: by parent, the stack by number of its frame

  local function frame_number(text)
    if not number_of_text[text] then
      number_of_text[text] = #texts
      texts[#texts + 1] = text
    end
    return number_of_text[text]
  end

  local function child(parent, frame)
    local of_parent = children[parent]
    if not of_parent then
      of_parent = {}
      children[parent] = of_parent
    end
    if not of_parent[frame] then
      of_parent[frame] = #frames
      frames[#frames + 1], parents[#parents + 1] = frame, parent
    end
    return of_parent[frame]
  end

  local function number(list, kind)
    local at = -1
    for _, frame in ipairs(list) do at = child(at, frame_number(text_of(frame, kind))) end
    return at >= 0 and at or nil
  end

  return {texts = texts, frames = frames, parents = parents, number = number}
end
