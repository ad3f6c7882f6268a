#!/bin/sh
docker build -t httparena-scripted ../..
