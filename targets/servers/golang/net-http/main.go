// The standard library's server: ServeMux, no options. GOMAXPROCS says how many cores it may use.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
)

func hello(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/plain")
	header.Set("Server", "net/http")
	io.WriteString(w, "Hello, World!")
}

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "host:port to listen on")
	flag.Parse()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", hello)
	log.Fatal(http.ListenAndServe(*address, mux))
}
