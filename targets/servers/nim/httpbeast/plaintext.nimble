# Package

version = "1.0.0"
author = "httpbench"
description = "Plaintext by httpbeast"
license = "MIT"
srcDir = "src"
bin = @["plaintext"]

# Dependencies

requires "nim >= 1.6.0"
# httpbeast == 0.4.1, by the commit of its tag: what a tag points to can change
requires "httpbeast#abc13d11c210b614960fe8760e581d44cfb2e3e9"
