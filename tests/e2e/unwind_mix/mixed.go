// SPDX-License-Identifier: Apache-2.0

// Goroutines that sort, count and make garbage.
package main

import (
	"fmt"
	"sort"
	"strings"
)

//go:noinline
func down(n int, f func(int) int) int {
	if n == 0 {
		return f(n)
	}
	return down(n-1, func(k int) int { return f(k + n) }) ^ f(n)
}

//go:noinline
func words(seed int) int {
	v := make([]string, 200)
	for i := range v {
		v[i] = fmt.Sprintf("%x", i*2654435761^seed)
	}
	sort.Slice(v, func(a, b int) bool { return v[a] > v[b] })
	counts := map[rune]int{}
	for _, c := range strings.Join(v, ",") {
		counts[c]++
	}
	return len(counts)
}

func main() {
	done := make(chan int)
	for g := 0; g < 3; g++ {
		go func(seed int) {
			for {
				seed = seed*1664525 + 1013904223 + words(down(12, func(k int) int { return k ^ seed }))
			}
		}(g)
	}
	<-done
}
