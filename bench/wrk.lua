-- Sends the requests of a file, and tells what wrk alone does not: refusals, and the longest gap between two answers.
--
-- wrk -s wrk.lua URL -- FILE COUNT SECONDS STATUS once|again watched|counted. In FILE stands before each request its
-- length, in six digits. It ends with COUNT answers, 0 for any number, or after SECONDS. Only where answers are watched
-- is the gap known and are they looked at one by one; that takes time, the more the longer they are.

local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } bench_time;
int clock_gettime(int clock, bench_time *time);
int getpid(void);
int kill(int process, int signal);
]]
local MONOTONIC, INTERRUPT = 1, 2
local time = ffi.new("bench_time")
local threads = {}

local function now_us()
  ffi.C.clock_gettime(MONOTONIC, time)
  return tonumber(time.seconds) * 1e6 + tonumber(time.nanoseconds) / 1e3
end

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  requests, count, limit_us = assert(io.open(arguments[1], "rb")), tonumber(arguments[2]), tonumber(arguments[3]) * 1e6
  wanted, is_cycled, is_watched = tonumber(arguments[4]), arguments[5] == "again", arguments[6] == "watched"
  asked, answered, refused, gap_us, began_us, last_us, complaint = 0, 0, 0, 0, 0, 0, ""
  is_over = false
  if not is_watched then
    response = nil -- wrk asks afterwards whether there is one
  end
end

local function stop()
  is_over = true
  wrk.thread:stop()
  ffi.C.kill(ffi.C.getpid(), INTERRUPT) -- the main thread sleeps until the end of the time that wrk was given
end

function request()
  asked = asked + 1
  if asked == 2 then -- the first one is only looked at by wrk
    began_us = now_us()
  elseif asked > 2 and not is_watched and not is_over then -- what is sent now goes to a connection that was answered
    last_us = now_us()
    if last_us - began_us > limit_us then
      stop()
    end
  end
  local size = requests:read(6)
  if not size and is_cycled then
    requests:seek("set")
    size = requests:read(6)
  end
  if size then
    latest = requests:read(tonumber(size))
  elseif not is_watched and not is_over then
    stop()
  end
  return latest
end

function response(status, headers, body)
  if is_over then
    return
  end
  local now = now_us()
  if answered > 0 and now - last_us > gap_us then
    gap_us = now - last_us
  end
  answered, last_us = answered + 1, now
  if status ~= wanted then
    refused = refused + 1
    complaint = status .. " " .. body:sub(1, 200)
  end
  if answered == count or now - began_us > limit_us then
    stop()
  end
end

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', " ") .. '"'
end

function done(summary, latency)
  local thread, errors = threads[1], summary.errors
  local began_us, last_us = thread:get("began_us"), thread:get("last_us")
  local answered, refused = thread:get("answered"), thread:get("refused")
  if not thread:get("is_watched") then -- wrk counts what is 400 and above
    answered = summary.requests
    refused = thread:get("wanted") < 400 and errors.status or answered - errors.status
  end
  io.write(string.format(
    '\n{"answers": %d, "refused": %d, "errors": %d, "complaint": %s, "wall_s": %.6f, ' ..
      '"gap_ms": %.3f, "p50_ms": %.3f, "p99_ms": %.3f, "p999_ms": %.3f, "max_ms": %.3f}\n',
    answered, refused, errors.connect + errors.read + errors.write + errors.timeout,
    quoted(thread:get("complaint")), math.max(last_us - began_us, 0) / 1e6, thread:get("gap_us") / 1e3,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3))
end
