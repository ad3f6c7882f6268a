// A minimal HTTP/1.1 server. Usage: ./server HOST:PORT
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	// Also responds to HEAD. "{$}" matches no other path, so that unknown paths get status 404.
	http.HandleFunc("GET /{$}", func(response http.ResponseWriter, request *http.Request) {
		header := response.Header()
		header.Set("Server", "NAME")
		header.Set("Content-Type", "text/plain")
		io.WriteString(response, "Hello, World!")
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
