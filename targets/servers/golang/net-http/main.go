// Command server starts the standard library's server with ServeMux and no other options. GOMAXPROCS limits the cores it uses. With the
// build tag database, it queries the database at DATABASE_URL.
package main

import (
	"encoding/json"
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

type message struct {
	Message string `json:"message"`
}

func helloJSON(w http.ResponseWriter, _ *http.Request) {
	respondJSON(w, message{"Hello, World!"})
}

func respondJSON(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Server", "net/http")
	w.Write(body)
}

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "host:port to listen on")
	cert := flag.String("cert", "", "PEM file with a certificate, to serve HTTPS and HTTP/2")
	key := flag.String("key", "", "PEM file with the certificate's key")
	flag.Parse()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", hello)
	mux.HandleFunc("GET /json", helloJSON)
	addTables(mux)
	if *cert != "" {
		log.Fatal(http.ListenAndServeTLS(*address, *cert, *key, mux))
	}
	log.Fatal(http.ListenAndServe(*address, mux))
}
