module proxy

go 1.25
