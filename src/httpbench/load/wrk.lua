-- wrk runs this script in every measurement. The script sets up the request once and prints the results as one line of JSON.
--
-- The script defines neither `request` nor `response`, because wrk would call these functions for every request or response. For
-- pipelining, `init` joins `pipeline` copies of the request into one long request. wrk counts the copies to know how many responses to
-- expect, and records one latency per batch.
--
-- Arguments after the URL: pipeline depth, method, path of the file with the body ("" if there is none).

function init(args)
   local pipeline, method, body_file = tonumber(args[1]), args[2], args[3]
   wrk.method = method
   if body_file ~= "" then
      local file = assert(io.open(body_file, "rb"))
      wrk.body = file:read("*a")
      file:close()
   end
   if pipeline > 1 then
      local batch = string.rep(wrk.format(), pipeline)
      wrk.format = function() return batch end
   end
end

-- wrk's own accessors walk the whole table of latencies for each value. A table that spans seconds has millions of entries, so this
-- function reads the table directly from memory. It relies on the memory layout of wrk 4.0 to 4.2. An assertion detects other layouts: it
-- compares the minimum and the maximum with those from the accessors.
local function latencies(stats)
   local ffi = require("ffi")
   ffi.cdef [[ struct httpbench_stats { uint64_t count, limit, min, max, data[1]; }; ]]
   local table_of = ffi.cast("struct httpbench_stats **", stats)[0]
   if table_of.count == 0 then return "[]" end
   local low, high = tonumber(table_of.min), tonumber(table_of.max)
   assert(low == stats.min and high == stats.max and high < tonumber(table_of.limit))
   local pairs_us = {}
   for us = 0, high do
      local count = tonumber(table_of.data[us])
      if count > 0 then pairs_us[#pairs_us + 1] = string.format("[%d,%d]", us, count) end
   end
   return "[" .. table.concat(pairs_us, ",") .. "]"
end

function done(summary, latency, requests)
   local readable, histogram = pcall(latencies, latency)
   local errors = summary.errors
   io.write(string.format(
      '\nhttpbench-wrk/1 {"duration_us":%d,"requests":%d,"bytes":%d,' ..
      '"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d},"latencies_us":',
      summary.duration, summary.requests, summary.bytes,
      errors.connect, errors.read, errors.write, errors.timeout, errors.status))
   io.write(readable and histogram or "null", "}\n")
end
