# frozen_string_literal: true

# One process per core, forked after the application is loaded. Each has two threads, as in the published benchmark.

bind "tcp://#{ENV.fetch('ADDRESS')}?backlog=4096"
workers Integer(ENV.fetch("WORKERS"))
threads 2, 2
preload_app!
silence_single_worker_warning
