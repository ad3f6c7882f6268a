// A server with Go's standard library and a fixed response, for comparisons of load generators.
//
// Usage: main PORT BODY_BYTES (port 0: any). It prints the port that it listens on.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: main PORT BODY_BYTES")
	}
	size, err := strconv.Atoi(os.Args[2])
	if err != nil || size < 0 {
		log.Fatalf("BODY_BYTES is %q: it must be a number of bytes", os.Args[2])
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	body := bytes.Repeat([]byte("x"), size)
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/plain")
		writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
		writer.Write(body)
	})))
}
