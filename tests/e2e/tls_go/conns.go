// SPDX-License-Identifier: Apache-2.0

// Connections of Go's crypto/tls.
//
//	conns web ASKERS REQUESTS: an HTTPS server, and clients with a connection each. Prints what the server logged.
//	conns log HOW: prints each call of one connection as saker shall: type, socket, result, bytes.
//	conns load: many connections until the input ends. Prints whether the code of crypto/tls is what it was.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func serverConfig() *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	form := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &form, &form, &key.PublicKey, key)
	check(err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

var clientConfig = &tls.Config{InsecureSkipVerify: true}

// ---- web ----

func ask(address string, asker, requests int) {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: clientConfig}}
	for i := 0; i < requests; i++ {
		answer, err := client.Get(fmt.Sprintf("https://%s/asker%d/%d", address, asker, i))
		check(err)
		_, err = io.Copy(io.Discard, answer.Body)
		check(err)
		answer.Body.Close()
	}
	client.CloseIdleConnections()
}

func web(askers, requests int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	var lock sync.Mutex
	var all sync.WaitGroup
	server := http.Server{
		TLSConfig:    serverConfig(),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // no HTTP/2
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lock.Lock()
			fmt.Println(r.Method, r.URL.Path, 200)
			lock.Unlock()
			io.WriteString(w, strings.Repeat("secret of "+r.URL.Path, 40))
		}),
	}
	go server.ServeTLS(listener, "", "")
	for k := 0; k < askers; k++ {
		all.Add(1)
		go func(k int) {
			defer all.Done()
			ask(listener.Addr().String(), k, requests)
		}(k)
	}
	all.Wait()
	check(server.Shutdown(context.Background())) // its last write has returned
}

// ---- pairs of connections ----

// A connection that is no net.TCPConn.
type wrapped struct {
	net.Conn
}

type end struct {
	*tls.Conn
	fd int
}

func makeEnd(how string, conn net.Conn, make func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) (e end) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	check(err)
	check(raw.Control(func(fd uintptr) { e.fd = int(fd) }))
	if how == "wrapped" {
		conn = wrapped{conn}
	}
	e.Conn = make(conn, config)
	return e
}

func makePair(how string, config *tls.Config) (client, server end) {
	network, address := "tcp", "127.0.0.1:0"
	if how == "unix" {
		network, address = "unix", "@saker-tls-go-"+strconv.Itoa(os.Getpid())
	}
	listener, err := net.Listen(network, address)
	check(err)
	defer listener.Close()
	dialed, err := net.Dial(network, listener.Addr().String())
	check(err)
	accepted, err := listener.Accept()
	check(err)
	client = makeEnd(how, dialed, tls.Client, clientConfig)
	server = makeEnd(how, accepted, tls.Server, config)
	done := make(chan error)
	go func() { done <- server.Handshake() }()
	check(client.Handshake())
	check(<-done)
	return client, server
}

// ---- log ----

func result(n int, err error) int {
	if n > 0 || err == nil || err == io.EOF {
		return n
	}
	return -int(syscall.EAGAIN) // of the socket call, or there was none
}

func put(what string, fd, res int, data []byte) {
	if res < 0 {
		data = nil
	}
	fmt.Printf("%s %d %d %.60s\n", what, fd, res, data)
}

// A goroutine begins with a small stack, which moves during the call, with the buffer on it.
func onNewStack(f func()) {
	done := make(chan bool)
	go func() {
		f()
		done <- true
	}()
	<-done
}

func (e end) write(text string) {
	onNewStack(func() {
		var b [1000]byte
		n, err := e.Write(b[:copy(b[:], text)])
		put("tls_write", e.fd, result(n, err), []byte(text))
	})
}

func (e end) read() {
	onNewStack(func() {
		var b [1000]byte
		n, err := e.Read(b[:])
		put("tls_read", e.fd, result(n, err), []byte(string(b[:n])))
	})
}

func logCalls(how string) {
	client, server := makePair(how, serverConfig())
	for i := 0; i < 5; i++ {
		client.write(fmt.Sprintf("a question, which is the number %d of them", i))
		server.read()
		server.write(fmt.Sprintf("an answer to question %d", i))
		client.read()
	}
	client.write(strings.Repeat("in two pieces ", 100))
	server.read()
	server.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	server.read()
	server.SetReadDeadline(time.Now().Add(time.Hour))
	big := bytes.Repeat([]byte("more than a record "), 1000)
	sent := make(chan int)
	go func() {
		n, _ := client.Write(big)
		sent <- n
	}()
	got := make([]byte, len(big))
	for at := 0; at < len(big); {
		n, err := server.Read(got[at:])
		check(err)
		put("tls_read", server.fd, n, got[at:])
		at += n
	}
	put("tls_write", client.fd, <-sent, big)
	client.CloseWrite()
	server.read()
	server.CloseWrite()
	server.write("too late")
}

// ---- load ----

const pairs, waiting = 8, 30

var ended atomic32
var rounds atomic32

type atomic32 struct{ v int32 }

func (a *atomic32) get() int32 { return atomic.LoadInt32(&a.v) }
func (a *atomic32) add()       { atomic.AddInt32(&a.v, 1) }

// Calls f below as many frames, so that the stack grows.
func deep(n int, f func()) byte {
	var b [100]byte
	if n > 0 {
		b[n%len(b)] = deep(n-1, f)
	} else {
		f()
	}
	return b[n/2%len(b)]
}

func expect(e end, text string) {
	var b [200]byte
	n, err := io.ReadFull(e, b[:len(text)])
	check(err)
	if string(b[:n]) != text {
		panic("got " + string(b[:n]))
	}
}

func exchange(client, server end, k int) {
	for i := 0; ended.get() == 0; i++ {
		text := fmt.Sprintf("a message %d of %d", i, k)
		done := make(chan bool)
		go func() {
			deep(i%150, func() { expect(server, text) })
			done <- true
		}()
		deep((i*7)%150, func() {
			_, err := client.Write([]byte(text))
			check(err)
		})
		<-done
		rounds.add()
	}
}

func codeOf(f interface{}) []byte {
	at := unsafe.Pointer(reflect.ValueOf(f).Pointer())
	return append([]byte{}, (*[4096]byte)(at)[:]...)
}

func code() []byte {
	return append(codeOf((*tls.Conn).Read), codeOf((*tls.Conn).Write)...)
}

func load() {
	runtime.GOMAXPROCS(4)
	var all sync.WaitGroup
	var idle []end
	before, config := code(), serverConfig()
	for k := 0; k < pairs+waiting; k++ {
		client, server := makePair("tcp", config)
		all.Add(1)
		go func(k int) {
			defer all.Done()
			if k < pairs {
				exchange(client, server, k)
			} else {
				deep(k, func() { expect(server, "the end") })
			}
		}(k)
		if k >= pairs {
			idle = append(idle, client)
		}
	}
	go func() {
		for {
			runtime.GC() // shrinks stacks
			time.Sleep(5 * time.Millisecond)
		}
	}()
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	for i := 0; i < 1000 && !bytes.Equal(code(), before); i++ {
		time.Sleep(10 * time.Millisecond)
	}
	ended.add()
	for _, client := range idle {
		_, err := client.Write([]byte("the end"))
		check(err)
	}
	all.Wait()
	fmt.Println(rounds.get() > 0, bytes.Equal(code(), before))
}

func main() {
	switch os.Args[1] {
	case "web":
		askers, _ := strconv.Atoi(os.Args[2])
		requests, _ := strconv.Atoi(os.Args[3])
		web(askers, requests)
	case "log":
		logCalls(os.Args[2])
	case "load":
		load()
	}
}
