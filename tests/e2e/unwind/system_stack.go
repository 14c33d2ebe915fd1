// SPDX-License-Identifier: Apache-2.0

// Allocates, for as many milliseconds as its argument says: much of that is done on the system's
// stack.
package main

import (
	"os"
	"runtime"
	"strconv"
	"time"
)

type node struct {
	left, right *node
	room        [40]byte
}

//go:noinline
func tree(n int) *node {
	if n == 0 {
		return nil
	}
	return &node{left: tree(n - 1), right: tree(n - 1)}
}

//go:noinline
func large(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += len(make([]byte, 70000+i))
	}
	return
}

func main() {
	ms, _ := strconv.Atoi(os.Args[1])
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end); {
		tree(10)
		large(100)
		runtime.GC()
	}
}
