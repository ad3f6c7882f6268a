# frozen_string_literal: true

# One process for each core, forked after the application is loaded; two threads in each, as the suite's origin had it.

bind "tcp://#{ENV.fetch('ADDRESS')}?backlog=4096"
workers Integer(ENV.fetch("WORKERS"))
threads 2, 2
preload_app!
silence_single_worker_warning
