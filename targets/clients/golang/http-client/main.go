// Command client sends sequential GETs on one connection, with net/http's client.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) != 3 {
		usage()
	}
	url := os.Args[1]
	requests, err := strconv.ParseUint(os.Args[2], 10, 32)
	if err != nil {
		usage()
	}
	var client http.Client
	var bodyBytes int
	for range requests {
		n, err := get(&client, url)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		bodyBytes += n
	}
	fmt.Println(requests, bodyBytes)
}

// get sends a request and returns the length of the response's body. It reads the whole body, so that the connection can be reused.
func get(client *http.Client, url string) (int, error) {
	response, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: status %d, expected 200", url, response.StatusCode)
	}
	return len(body), nil
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: client URL REQUESTS")
	os.Exit(2)
}
