# The standard library's server. Copies of it may share the port, each with one thread.
# Usage: server HOST PORT

require "http/server"

BODY = "Hello, World!"

# HTTP::Server sends no date. This one is made anew once a second, by a fiber of its own.
class Clock
  getter date : String = HTTP.format_time(Time.utc)

  def start
    spawn do
      loop do
        sleep 1
        @date = HTTP.format_time(Time.utc)
      end
    end
  end
end

clock = Clock.new
clock.start

server = HTTP::Server.new do |context|
  request, response = context.request, context.response
  response.headers["Server"] = "crystal"
  response.headers["Date"] = clock.date
  response.content_type = "text/plain"
  if request.path == "/"
    response.content_length = BODY.bytesize
    response.print BODY unless request.method == "HEAD" # the library would send it
  else
    response.respond_with_status(:not_found)
  end
end

server.bind_tcp ARGV[0], ARGV[1].to_i, reuse_port: true
server.listen
