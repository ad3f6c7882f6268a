// Command proxy starts the reverse proxy of the standard library in front of one backend, or of two that take turns. GOMAXPROCS limits the
// cores it uses.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"
)

// idleConnections is the number of idle connections to a backend that are kept. The default is 2.
const idleConnections = 1024

// limit is the time after which one of two backends has failed.
const limit = time.Second

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "host:port to listen on")
	backend := flag.String("backend", "127.0.0.1:8081", "host:port of the backend")
	second := flag.String("second", "", "host:port of a second backend, to alternate between both")
	cert := flag.String("cert", "", "PEM file with a certificate, to serve HTTPS and HTTP/2")
	key := flag.String("key", "", "PEM file with the certificate's key")
	flag.Parse()

	// With compression, the transport would ask for it on behalf of clients that don't, and then decompress the responses.
	transport := &http.Transport{MaxIdleConnsPerHost: idleConnections, DisableCompression: true}
	targets := []*url.URL{{Scheme: "http", Host: *backend}}
	if *second != "" {
		targets = append(targets, &url.URL{Scheme: "http", Host: *second})
		transport.DialContext = (&net.Dialer{Timeout: limit}).DialContext
		transport.ResponseHeaderTimeout = limit
	}
	var requests atomic.Uint64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(targets[requests.Add(1)%uint64(len(targets))])
			request.Out.Host = request.In.Host
		},
		Transport: transport,
	}
	if *cert != "" {
		log.Fatal(http.ListenAndServeTLS(*address, *cert, *key, proxy))
	}
	log.Fatal(http.ListenAndServe(*address, proxy))
}
