// fasthttp as its documentation starts it: one handler that looks at the path itself. GOMAXPROCS says how many cores it may use.
package main

import (
	"flag"
	"log"

	"github.com/valyala/fasthttp"
)

func handle(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/":
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello, World!")
	default:
		ctx.Error("not found", fasthttp.StatusNotFound)
	}
}

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "host:port to listen on")
	flag.Parse()

	server := &fasthttp.Server{Name: "fasthttp", Handler: handle}
	log.Fatal(server.ListenAndServe(*address))
}
