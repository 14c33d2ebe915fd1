# SPDX-License-Identifier: Apache-2.0
"""Words of a file, each once, in the order of their coming. docs/profiling.md has it profiled."""
import sys

text = open(sys.argv[1]).read().lower().split()
seen = set() if "--set" in sys.argv else []
words = []
for word in text:
    if word not in seen:
        words.append(word)
        seen.add(word) if "--set" in sys.argv else seen.append(word)
print(len(words), "words")
