//go:build !database

package main

import "net/http"

func addTables(*http.ServeMux) {}
