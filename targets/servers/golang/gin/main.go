// Command server starts gin in release mode, with its own router and no middleware. GOMAXPROCS limits the cores it uses.
package main

import (
	"flag"
	"log"
	"net/http"

	"github.com/gin-gonic/gin"
)

type message struct {
	Message string `json:"message"`
}

func hello(c *gin.Context) {
	c.Header("Server", "gin")
	c.Data(http.StatusOK, "text/plain", []byte("Hello, World!"))
}

func helloJSON(c *gin.Context) {
	c.Header("Server", "gin")
	c.JSON(http.StatusOK, message{"Hello, World!"})
}

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "host:port to listen on")
	flag.Parse()

	gin.SetMode(gin.ReleaseMode)
	router := gin.New() // gin.Default would log each request
	router.GET("/", hello)
	router.HEAD("/", hello) // gin does not derive HEAD from GET
	router.GET("/json", helloJSON)
	router.HEAD("/json", helloJSON)
	log.Fatal(router.Run(*address))
}
