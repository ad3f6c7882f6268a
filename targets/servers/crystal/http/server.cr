# A server that uses HTTP::Server from the standard library. It has one thread; several copies can share the port.
# Usage: server HOST PORT

require "http/server"
require "json"

BODY = "Hello, World!"

record Message, message : String do
  include JSON::Serializable
end

# HTTP::Server doesn't send a date, so a fiber updates this one every second.
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
  case request.path
  when "/"
    content_type, body = "text/plain", BODY
  when "/json"
    content_type, body = "application/json", Message.new(BODY).to_json
  else
    next response.respond_with_status(:not_found)
  end
  response.content_type = content_type
  response.content_length = body.bytesize
  response.print body unless request.method == "HEAD" # the library would send a body for HEAD, too
end

server.bind_tcp ARGV[0], ARGV[1].to_i, reuse_port: true
server.listen
