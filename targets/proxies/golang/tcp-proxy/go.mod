module proxy

go 1.24

tool github.com/jpillora/go-tcp-proxy/cmd/tcp-proxy

require (
	github.com/jpillora/go-tcp-proxy v1.0.2 // indirect
	github.com/mattn/go-colorable v0.1.4 // indirect
	github.com/mattn/go-isatty v0.0.8 // indirect
	github.com/mgutz/ansi v0.0.0-20170206155736-9520e82c474b // indirect
	golang.org/x/sys v0.0.0-20190222072716-a9d3bda3a223 // indirect
)
