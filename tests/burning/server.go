// A server whose function burn uses a set share of the server's CPU time: server PORT SHARE.
package main

import (
	"bytes"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

const (
	process = 2 // CLOCK_PROCESS_CPUTIME_ID
	thread  = 3 // CLOCK_THREAD_CPUTIME_ID
)

var (
	lock   sync.Mutex
	burned float64
	sink   uint32
)

func cpu(clock uintptr) float64 {
	var now syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0)
	return float64(now.Nano()) / 1e9
}

//go:noinline
func burn() {
	for i := 10000 + sink%20000; i > 0; i-- {
		sink = sink*1664525 + 1013904223
	}
	sink >>= 4
}

// Burn until the share is right. The kernel's clock is read outside of burn, and no other goroutine runs on this thread meanwhile.
func pace(share float64) {
	lock.Lock()
	defer lock.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for burned < share*cpu(process) {
		begin := cpu(thread)
		burn()
		burned += cpu(thread) - begin
	}
}

func serve(client net.Conn, share float64) {
	defer client.Close()
	request := make([]byte, 8192)
	for {
		length, err := client.Read(request)
		if err != nil {
			return
		}
		for count := bytes.Count(request[:length], []byte("\r\n\r\n")); count > 0; count-- {
			pace(share)
			_, _ = client.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
		}
	}
}

func main() {
	share, _ := strconv.ParseFloat(os.Args[2], 64)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(client, share)
	}
}
