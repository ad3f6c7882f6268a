# Package

version = "1.0.0"
author = "httpbench"
description = "Plaintext by httpbeast"
license = "MIT"
srcDir = "src"
bin = @["plaintext"]

# Dependencies

requires "nim >= 1.6.0"
requires "httpbeast == 0.4.1"
