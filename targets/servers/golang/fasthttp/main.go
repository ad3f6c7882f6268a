// Command server starts fasthttp as its documentation does, with one handler that compares the path. GOMAXPROCS limits the cores it uses.
package main

import (
	"encoding/json"
	"flag"
	"log"

	"github.com/valyala/fasthttp"
)

type message struct {
	Message string `json:"message"`
}

func handle(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/":
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello, World!")
	case "/json":
		body, err := json.Marshal(message{"Hello, World!"})
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		ctx.SetContentType("application/json")
		ctx.SetBody(body)
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
